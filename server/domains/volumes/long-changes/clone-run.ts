import type { LvmData } from "../../../../adapters/lvm/data/data-adapter.ts";
import type { OperationStep, StepRun } from "../../../operations/operation-kind.ts";
import type { FilledVolumeTools } from "./filled-volume-steps.ts";

/** Input of an operation that clones a thick volume. */
export type CloneInput = {
  readonly volumeGroup: string;
  readonly groupUuid: string;
  /** Name of the clone. */
  readonly volume: string;
  readonly thinPool: null;
  readonly deviceClass: string;
  readonly source: string;
  readonly sourceUuid: string;
  /** Number of bytes to copy: the size of the source. */
  readonly sourceBytes: number;
  /** Size of the clone in bytes. */
  readonly sizeBytes: number;
  /** Space of the snapshot that is copied; null: the source is a snapshot, which is copied itself. */
  readonly snapshotBytes: number | null;
  /** Whether the source must stay closed while it is copied: a snapshot that can be written. */
  readonly holdsSource: boolean;
  readonly tags: readonly string[];
};

/** Output of the `snapshot` step: the volume to copy. */
export type SnapshotOutput = { readonly name: string; readonly uuid: string };

export type CloneRun = StepRun<CloneInput, null>;
export type CloneStep = OperationStep<CloneInput, null>;

export interface CloneTools extends FilledVolumeTools {
  readonly data: LvmData;
}

/** Returns the output of the `snapshot` step. The cast is safe: an output keeps the type that its step returned. */
export function snapshotBy({ output }: Pick<CloneRun, "output">): SnapshotOutput {
  return output("snapshot") as SnapshotOutput;
}
