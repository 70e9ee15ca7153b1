import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { volumeResource } from "../../../../adapters/lvm/names.ts";
import { lvmReasons } from "../../../../adapters/lvm/reasons.ts";
import type { Repository, ResticAdapter } from "../../../../adapters/restic/adapter.ts";
import { resticReasons } from "../../../../adapters/restic/reasons.ts";
import { backupReasons } from "../../../backups/reasons.ts";
import type { Repositories } from "../../../backups/repositories.ts";
import {
  describePlace,
  type RepositoryPlace,
  type RepositorySecrets,
} from "../../../backups/repository-place.ts";
import type { OperationVolumes } from "../../../lvm/operation-volumes.ts";
import type { OperationStep, StepRun } from "../../../operations/operation-kind.ts";
import type { Store } from "../../../store/store.ts";

/** Input of a backup operation. */
export type BackupInput = {
  readonly backupId: string;
  readonly name: string;
  readonly schedule: string | null;
  readonly actor: string;
  readonly host: string;
  readonly volumeGroup: string;
  readonly groupUuid: string;
  readonly volume: string;
  readonly volumeUuid: string;
  readonly thinPool: string | null;
  readonly snapshotPercent: number;
  readonly place: RepositoryPlace;
  /** Name of the gateway's encryption key; null: the owner has the key. */
  readonly keyName: string | null;
};

/** Result of a backup operation. */
export type BackupResult = {
  readonly backupId: string;
  readonly snapshotId: string;
  readonly sizeBytes: number;
  readonly repository: string;
};

/** Output of the `snapshot` step. */
export type SnapshotOutput = {
  readonly name: string;
  readonly uuid: string;
  readonly sizeBytes: number;
  readonly atMs: number;
};

export type StoreOutput = { readonly snapshotId: string };

/** Output of the `verify` step: snapshots that earlier attempts left in the repository. */
export type VerifyOutput = { readonly otherIds: readonly string[] };

export type BackupRun = StepRun<BackupInput, RepositorySecrets | null>;
export type BackupStep = OperationStep<BackupInput, RepositorySecrets | null>;

export interface BackupTools {
  readonly operationVolumes: OperationVolumes;
  readonly restic: ResticAdapter;
  readonly repositories: Repositories;
  readonly store: Pick<Store, "run">;
}

/** Opens the repository of the input, with the credentials of the request if it had any. */
export function openRepository(
  repositories: Repositories,
  { input, secrets }: Pick<BackupRun, "input" | "secrets">,
): Promise<Repository> {
  return repositories.open(input.place, secrets, input.keyName);
}

/** Returns the output of the `snapshot` step. The casts here are safe: an output keeps the type that its step returned. */
export function snapshotBy({ output }: Pick<BackupRun, "output">): SnapshotOutput {
  return output("snapshot") as SnapshotOutput;
}

/** Returns the output of the `store` step. */
export function storedBy({ output }: Pick<BackupRun, "output">): StoreOutput {
  return output("store") as StoreOutput;
}

/** Returns the output of the `verify` step. */
export function verifiedBy({ output }: Pick<BackupRun, "output">): VerifyOutput {
  return output("verify") as VerifyOutput;
}

/** Returns the error for a volume that was removed, or replaced by one of the same name, since the request. */
export function volumeGone({ volumeGroup, volume }: BackupInput): InfraError {
  return new InfraError(
    lvmReasons.VOLUME_NOT_FOUND,
    `${volumeGroup}/${volume} no longer exists, or is a different volume now`,
    { resource: volumeResource(volumeGroup, volume) },
  );
}

/** Returns the error for a backup whose name another one of the volume has got since the request. */
export function nameTaken({ volumeGroup, volume, name }: BackupInput): InfraError {
  return new InfraError(
    backupReasons.BACKUP_EXISTS,
    `${volumeGroup}/${volume} already has a backup ${name}`,
    {
      resource: volumeResource(volumeGroup, volume),
    },
  );
}

/** Returns the error for a backup that is not what was stored. @param what a verb and its object, before `of GROUP/VOLUME` */
export function damaged({ place, volumeGroup, volume }: BackupInput, what: string): InfraError {
  return new InfraError(
    resticReasons.BACKUP_DAMAGED,
    `${describePlace(place)} ${what} of ${volumeGroup}/${volume}`,
  );
}
