import type { ResticAdapter } from "../../../../adapters/restic/adapter.ts";
import type { MadeVolumes } from "../../../backups/lvm/made-volumes.ts";
import type { Repositories } from "../../../backups/repositories.ts";
import type { RepositoryPlace, RepositorySecrets } from "../../../backups/repository-place.ts";
import type { OperationStep, StepRun } from "../../../operations/operation-kind.ts";
import type { DeviceClass } from "../device-class.ts";

/** A volume that is to be made and filled from a backup. */
export type RestoreInput = {
  readonly host: string;
  readonly volumeGroup: string;
  readonly groupUuid: string;
  readonly volume: string;
  readonly thinPool: string | null;
  /** Name of the device class. */
  readonly deviceClass: string;
  /** As it was asked for, in whole GiB. */
  readonly sizeBytes: number;
  readonly tags: readonly string[];
  readonly place: RepositoryPlace;
  /** Of the gateway's key; null: the owner has the key. */
  readonly keyName: string | null;
  /** Which backup of the repository (`select-backup.ts`). */
  readonly selector: string;
};

/** What came of it. */
export type RestoreResult = {
  /** Resource of the volume. */
  readonly volume: string;
  readonly sizeBytes: number;
  readonly restoredBytes: number;
  readonly snapshotId: string;
  /** null: no gateway has made the snapshot. */
  readonly backupId: string | null;
};

/** The backup that is meant, as its step tells it. */
export type LocateOutput = {
  readonly snapshotId: string;
  readonly fileName: string;
  readonly sizeBytes: number;
  readonly backupId: string | null;
};

/** The volume under its temporary name. */
export type CreateOutput = {
  readonly name: string;
  readonly uuid: string;
  readonly sizeBytes: number;
};

export type RestoreRun = StepRun<RestoreInput, RepositorySecrets | null>;
export type RestoreStep = OperationStep<RestoreInput, RepositorySecrets | null>;

export interface RestoreTools {
  readonly made: MadeVolumes;
  readonly restic: ResticAdapter;
  readonly repositories: Repositories;
  readonly deviceClasses: readonly DeviceClass[];
}

/** Outputs come back as the steps of the same names have returned them. */
export function locatedBy({ output }: Pick<RestoreRun, "output">): LocateOutput {
  return output("locate") as LocateOutput;
}

export function createdBy({ output }: Pick<RestoreRun, "output">): CreateOutput {
  return output("create") as CreateOutput;
}
