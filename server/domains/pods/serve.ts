import { InfraError } from "../../../adapters/host/infra-error.ts";
import { PodService } from "../../../gen/hostplane/v1/pod_pb.ts";
import { PublicAPI } from "../../../gen/v1alpha/api_pb.ts";
import { createAbsentBackend } from "../../domain/backend.ts";
import { type DomainServices, namesOf, type ServicesOptions } from "../../domain/domain-services.ts";
import { operationMessage } from "../operations/operation-messages.ts";
import { createPodBackend } from "./backend.ts";
import { createPodChanges } from "./changes/pod-changes.ts";
import { createListenEvents } from "./events/listen-events.ts";
import { createPodObserver } from "./events/pod-observer.ts";
import { createPodLogs } from "./logs/pod-logs.ts";
import { createOwnChanges } from "./own-changes.ts";
import { createPodPlanners } from "./planners.ts";
import { createPodService } from "./pod-service.ts";
import { createPromptReads } from "./prompt-reads.ts";
import { createPodResources } from "./resources.ts";
import { createPublicApiService } from "./service.ts";
import { registerPlanRefusal } from "../../operations/planner.ts";
import { registerRefusal } from "../../rpc/service-handlers.ts";

/** Creates the services for pods and images. */
export function createPodsDomain(options: ServicesOptions): DomainServices {
  const services = [PublicAPI, PodService];
  const { pods: system } = options.systems;
  if (system === undefined) {
    const missing = "pods are off: set `pods` in the configuration";
    const refusal = () => new InfraError("DOMAIN_OFF", missing);
    return {
      registrations: services.map((service) => registerRefusal(service, refusal)),
      planners: services.map((service) => registerPlanRefusal(service, refusal)),
      backends: [createAbsentBackend("pods", "podman", "off", namesOf(services), missing)],
    };
  }
  const { log } = options;
  const { exact, prompt, isLate } = createPromptReads(system.runtime);
  const own = createOwnChanges();
  const onFailed = (error: unknown) => log.warn("events of pods could not be published; retrying", error);
  const observer = createPodObserver({ ...options, runtime: exact, own, onFailed });
  const { importTimes } = observer;
  const changes = createPodChanges({ ...options, runtime: exact, own });
  const logs = createPodLogs({ ...options, runtime: prompt });
  const listenEvents = createListenEvents(options);
  return {
    registrations: [
      createPublicApiService({ runtime: prompt, importTimes, logs, listenEvents }),
      createPodService({ runtime: prompt, importTimes, changes, operationMessage }),
    ],
    planners: [createPodPlanners(changes)],
    backends: [createPodBackend(prompt, isLate)],
    inventory: [createPodResources(prompt)],
    observe: () => observer.begin(),
  };
}
