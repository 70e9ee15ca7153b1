import type { MessageInitShape } from "@bufbuild/protobuf";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import type { PodRuntime } from "../../../adapters/podman/adapter.ts";
import type { OperationSchema } from "../../../gen/hostplane/v1/operation_pb.ts";
import { PodService } from "../../../gen/hostplane/v1/pod_pb.ts";
import type { Operation } from "../../operations/operation.ts";
import { registerService, type ServiceRegistration } from "../../rpc/service-handlers.ts";
import type { PodChanges } from "./changes/pod-changes.ts";
import type { ImportTimes } from "./events/import-times.ts";

export interface PodServiceOptions {
  readonly runtime: PodRuntime;
  readonly changes: PodChanges;
  readonly importTimes: ImportTimes;
  /** An operation as the contract tells it. */
  readonly operationMessage: (operation: Operation) => MessageInitShape<typeof OperationSchema>;
}

/** hostplane.v1.PodService: pods and images, and what changes them. */
export function createPodService({ changes, operationMessage }: PodServiceOptions): ServiceRegistration {
  const notBuilt = () => new InfraError("DOMAIN_NOT_BUILT", "this version does not tell of pods yet");
  return registerService(PodService, {
    async listPods() {
      throw notBuilt();
    },
    // biome-ignore lint/correctness/useYield: it is not built yet
    async *watchPods() {
      throw notBuilt();
    },
    async listImages() {
      throw notBuilt();
    },
    async startPod(request, call) {
      return { operation: operationMessage(await changes.startPod.begin(request, call)) };
    },
    async stopPod(request, call) {
      return { operation: operationMessage(await changes.stopPod.begin(request, call)) };
    },
    async killPod(request, call) {
      return { operation: operationMessage(await changes.killPod.begin(request, call)) };
    },
    async removePod(request, call) {
      return { operation: operationMessage(await changes.removePod.begin(request, call)) };
    },
    async pullImage(request, call) {
      return { operation: operationMessage(await changes.pullImage.begin(request, call)) };
    },
    async removeImage(request, call) {
      return { operation: operationMessage(await changes.removeImage.begin(request, call)) };
    },
  });
}
