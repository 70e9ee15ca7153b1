import type { ResticAdapter } from "../../../../adapters/restic/adapter.ts";
import type { Repositories } from "../../../backups/repositories.ts";
import type { RepositoryPlace, RepositorySecrets } from "../../../backups/repository-place.ts";
import type { OperationVolumes } from "../../../lvm/operation-volumes.ts";
import type { OperationStep, StepRun } from "../../../operations/operation-kind.ts";
import type { DeviceClass } from "../device-class.ts";

/** Input of a restore operation. */
export type RestoreInput = {
  readonly host: string;
  readonly volumeGroup: string;
  readonly groupUuid: string;
  readonly volume: string;
  readonly thinPool: string | null;
  /** Name of the device class. */
  readonly deviceClass: string;
  /** Requested size in bytes, a multiple of 1 GiB. */
  readonly sizeBytes: number;
  readonly tags: readonly string[];
  readonly place: RepositoryPlace;
  /** Name of the gateway's encryption key; null: the owner has the key. */
  readonly keyName: string | null;
  /** Selects a backup of the repository (`select-backup.ts`). */
  readonly selector: string;
};

/** Result of a restore operation. */
export type RestoreResult = {
  /** Resource of the volume. */
  readonly volume: string;
  readonly sizeBytes: number;
  readonly restoredBytes: number;
  readonly snapshotId: string;
  /** null: the snapshot was not created by a gateway. */
  readonly backupId: string | null;
};

/** Output of the `locate` step: the requested backup. */
export type LocateOutput = {
  readonly snapshotId: string;
  readonly fileName: string;
  readonly sizeBytes: number;
  readonly backupId: string | null;
};

export type RestoreRun = StepRun<RestoreInput, RepositorySecrets | null>;
export type RestoreStep = OperationStep<RestoreInput, RepositorySecrets | null>;

export interface RestoreTools {
  readonly operationVolumes: OperationVolumes;
  readonly restic: ResticAdapter;
  readonly repositories: Repositories;
  readonly deviceClasses: readonly DeviceClass[];
}

/** Returns the output of the `locate` step. The cast is safe: an output keeps the type that its step returned. */
export function locatedBy({ output }: Pick<RestoreRun, "output">): LocateOutput {
  return output("locate") as LocateOutput;
}
