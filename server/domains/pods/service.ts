import { InfraError } from "../../../adapters/host/infra-error.ts";
import type { PodRuntime } from "../../../adapters/podman/adapter.ts";
import { PublicAPI } from "../../../gen/v1alpha/api_pb.ts";
import { registerService, type ServiceRegistration } from "../../rpc/service-handlers.ts";
import type { ImportTimes } from "./events/import-times.ts";
import type { ListenEvents } from "./events/listen-events.ts";
import type { PodLogs } from "./logs/pod-logs.ts";

export interface PublicApiOptions {
  readonly runtime: PodRuntime;
  readonly importTimes: ImportTimes;
  readonly logs: PodLogs;
  readonly listenEvents: ListenEvents;
}

/** v1alpha.PublicAPI: pods and images in the words of rkt. */
export function createPublicApiService({ logs, listenEvents }: PublicApiOptions): ServiceRegistration {
  const notBuilt = async (): Promise<never> => {
    throw new InfraError("DOMAIN_NOT_BUILT", "this version does not tell of pods yet");
  };
  return registerService(PublicAPI, {
    getInfo: notBuilt,
    listPods: notBuilt,
    inspectPod: notBuilt,
    listImages: notBuilt,
    inspectImage: notBuilt,
    listenEvents: (request, call) => listenEvents(request, call),
    getLogs: (request, call) => logs.read(request, call),
  });
}
