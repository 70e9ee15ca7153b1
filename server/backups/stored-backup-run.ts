import { hasReason, type InfraError } from "../../adapters/host/infra-error.ts";
import type { ResticAdapter } from "../../adapters/restic/adapter.ts";
import { resticReasons } from "../../adapters/restic/reasons.ts";
import type { StepRun } from "../operations/operation-kind.ts";
import type { Store } from "../store/store.ts";
import type { Repositories } from "./repositories.ts";
import type { RepositoryPlace, RepositorySecrets } from "./repository-place.ts";

/** A recorded backup, and what is needed to read it. */
export type StoredBackupInput = {
  readonly backupId: string;
  readonly snapshotId: string;
  readonly fileName: string;
  readonly sizeBytes: number;
  readonly place: RepositoryPlace;
  /** Name of the gateway's key; null: the user has the key. */
  readonly keyName: string | null;
};

export type StoredBackupRun = StepRun<StoredBackupInput, RepositorySecrets | null>;

export interface StoredBackupTools {
  readonly restic: ResticAdapter;
  readonly repositories: Repositories;
  readonly store: Pick<Store, "run">;
}

/** Reports whether the error means that the repository lacks data that it should contain. */
export function isLoss(error: unknown): error is InfraError {
  return hasReason(error, resticReasons.BACKUP_DAMAGED, resticReasons.BACKUP_NOT_FOUND);
}
