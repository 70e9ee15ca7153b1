import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { PodRuntime } from "../../../../adapters/podman/adapter.ts";
import type {
  KillPodRequest,
  PullImageRequest,
  RemoveImageRequest,
  RemovePodRequest,
  StartPodRequest,
  StopPodRequest,
} from "../../../../gen/hostplane/v1/pod_pb.ts";
import type { PlannedMutation } from "../../../operations/mutation.ts";
import type { Operation } from "../../../operations/operation.ts";
import type { Operations } from "../../../operations/operations.ts";
import type { Call } from "../../../rpc/call.ts";
import type { OwnChanges } from "../own-changes.ts";

/** One change of a pod or an image, as an operation. */
export interface PodChange<Request> {
  begin(request: Request, call: Call): Promise<Operation>;
  /** What it would do. @throws as `begin` */
  plan(request: Request, signal: AbortSignal): Promise<PlannedMutation>;
}

export interface PodChanges {
  readonly startPod: PodChange<StartPodRequest>;
  readonly stopPod: PodChange<StopPodRequest>;
  readonly killPod: PodChange<KillPodRequest>;
  readonly removePod: PodChange<RemovePodRequest>;
  readonly pullImage: PodChange<PullImageRequest>;
  readonly removeImage: PodChange<RemoveImageRequest>;
}

export interface PodChangesOptions {
  readonly runtime: PodRuntime;
  readonly operations: Operations;
  readonly own: OwnChanges;
  readonly host: string;
}

/** Registers the kinds of operations, so it comes before `operations.begin`. */
export function createPodChanges(_options: PodChangesOptions): PodChanges {
  const notBuilt = async (): Promise<never> => {
    throw new InfraError("DOMAIN_NOT_BUILT", "this version does not change pods yet");
  };
  const change = { begin: notBuilt, plan: notBuilt };
  return {
    startPod: change,
    stopPod: change,
    killPod: change,
    removePod: change,
    pullImage: change,
    removeImage: change,
  };
}
