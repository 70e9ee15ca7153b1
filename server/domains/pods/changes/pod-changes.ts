import type { PodRuntime } from "../../../../adapters/podman/adapter.ts";
import type {
  KillPodRequest,
  PullImageRequest,
  RemoveImageRequest,
  RemovePodRequest,
  StartPodRequest,
  StopPodRequest,
} from "../../../../gen/hostplane/v1/pod_pb.ts";
import type { Operations } from "../../../operations/operations.ts";
import type { OwnChanges } from "../own-changes.ts";
import { createKillPod } from "./kill-pod.ts";
import { createPodChange, type PodChange } from "./pod-change.ts";
import { createPullImage } from "./pull-image.ts";
import { createRemoveImage } from "./remove-image.ts";
import { createRemovePod } from "./remove-pod.ts";
import { createStartPod } from "./start-pod.ts";
import { createStopPod } from "./stop-pod.ts";

/** All changes of pods and images. */
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
  /** Name of this host. */
  readonly host: string;
}

/** Registers the kinds of operations. Must be called before `operations.begin`. */
export function createPodChanges({ runtime, operations, own, host }: PodChangesOptions): PodChanges {
  const tools = { runtime, own, host };
  const options = { runtime, operations, host };
  return {
    startPod: createPodChange(options, createStartPod(tools)),
    stopPod: createPodChange(options, createStopPod(tools)),
    killPod: createPodChange(options, createKillPod(tools)),
    removePod: createPodChange(options, createRemovePod(tools)),
    pullImage: createPodChange(options, createPullImage(tools)),
    removeImage: createPodChange(options, createRemoveImage(tools)),
  };
}
