import type { PodRuntime } from "../../../../adapters/podman/adapter.ts";
import type { PodService } from "../../../../gen/hostplane/v1/pod_pb.ts";
import type { ChangesOf } from "../../../domain/change.ts";
import type { DomainContext } from "../../../domain/domain-services.ts";
import { createLongChange } from "../../../domain/long-change.ts";
import type { Json } from "../../../operations/operation.ts";
import type { Operations } from "../../../operations/operations.ts";
import type { OwnChanges } from "../events/own-changes.ts";
import { createKillPod } from "./kill-pod.ts";
import { createLongPodChange } from "./long-pod-change.ts";
import type { PodChange } from "./pod-change.ts";
import { createPullImage } from "./pull-image.ts";
import { createRemoveImage } from "./remove-image.ts";
import { createRemovePod } from "./remove-pod.ts";
import { createStartPod } from "./start-pod.ts";
import { createStopPod } from "./stop-pod.ts";

export interface PodChangesOptions {
  readonly runtime: PodRuntime;
  readonly operations: Operations;
  readonly own: OwnChanges;
  /** Name of this host. */
  readonly host: string;
  /** Converts an operation to its message. */
  readonly operationMessage: DomainContext["operationMessage"];
}

type PodMethod = "startPod" | "stopPod" | "killPod" | "removePod" | "pullImage" | "removeImage";

/** The changes of hostplane.v1.PodService. Each returns the operation that makes it. */
export type PodChanges = ChangesOf<typeof PodService, PodMethod>;

/** Creates the changes, and registers their kinds of operations. Must be called before `operations.begin`. */
export function createPodChanges(options: PodChangesOptions): PodChanges {
  const { operations, operationMessage } = options;
  const change = <Request, Input extends Json>(definition: PodChange<Request, Input>) =>
    createLongChange(operations, createLongPodChange(options, definition), async (begin) => ({
      operation: operationMessage((await begin()).operation),
    }));
  return {
    startPod: change(createStartPod(options)),
    stopPod: change(createStopPod(options)),
    killPod: change(createKillPod(options)),
    removePod: change(createRemovePod(options)),
    pullImage: change(createPullImage(options)),
    removeImage: change(createRemoveImage(options)),
  };
}
