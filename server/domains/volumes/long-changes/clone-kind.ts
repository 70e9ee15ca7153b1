import { volumeResource } from "../../../../adapters/lvm/names.ts";
import type { OperationKind } from "../../../operations/operation-kind.ts";
import type { CloneInput, CloneTools } from "./clone-run.ts";
import { copyStep, removeSnapshotStep, snapshotSourceStep } from "./clone-steps.ts";
import { createdBy, createStep, releaseStep, removeTagsStep } from "./filled-volume-steps.ts";

/** Result of an operation that clones a volume. */
export type CloneResult = {
  /** Resource of the clone. */
  readonly volume: string;
  readonly sizeBytes: number;
};

/**
 * volumes.clone: copies a snapshot of a thick volume to a new volume under a temporary name, and renames that when it is
 * complete. If the copy fails, both are removed.
 */
export function createCloneKind(tools: CloneTools): OperationKind<CloneInput> {
  return {
    kind: "volumes.clone",
    system: "lvm",
    runsOn: "host",
    steps: [
      snapshotSourceStep(tools),
      createStep(tools, "clone"),
      copyStep(tools),
      releaseStep(tools),
      removeTagsStep(tools),
      removeSnapshotStep(tools),
    ],
    pointOfNoReturn: "release",
    result: ({ input, output }): CloneResult => ({
      volume: volumeResource(input.volumeGroup, input.volume),
      sizeBytes: createdBy({ output }).sizeBytes,
    }),
  };
}
