import { describeSize } from "../../../../../adapters/host/describe-size.ts";
import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import { libvirtReasons } from "../../../../../adapters/libvirt/reasons.ts";
import type { Repository, ResticAdapter, ResticSnapshot } from "../../../../../adapters/restic/adapter.ts";
import { resticReasons } from "../../../../../adapters/restic/reasons.ts";
import type { Repositories } from "../../../../backups/repositories.ts";
import { describePlace, type RepositoryPlace } from "../../../../backups/repository-place.ts";
import { operationTagOf } from "../../../../backups/stored-backup.ts";
import type { OperationStep, StepRun } from "../../../../operations/operation-kind.ts";
import type { Store } from "../../../../store/store.ts";
import type { PoolVolume, PoolVolumes, VolumesHolder } from "./pool-volumes.ts";
import type { StoredVolume } from "./stored-marks.ts";

/** Input of a backup of the pool. */
export type PoolBackupInput = {
  /** All backups of one run have this name. */
  readonly name: string;
  /** `PoolState.identity` of the pool that the request is about. */
  readonly identity: string;
  readonly host: string;
  readonly actor: string;
  readonly place: RepositoryPlace;
  /** Name of the gateway's encryption key. */
  readonly keyName: string;
};

/** A volume to store. */
export type ChosenVolume = {
  readonly name: string;
  readonly identity: string;
  readonly backupId: string;
  readonly sizeBytes: number;
};

export type ChooseOutput = { readonly volumes: readonly ChosenVolume[] };

export type VerifyOutput = {
  readonly stored: readonly (ChosenVolume & StoredVolume)[];
  /** Snapshots left by failed attempts. */
  readonly otherIds: readonly string[];
};

/** Result of a backup of the pool. */
export type PoolBackupResult = {
  readonly name: string;
  readonly repository: string;
  readonly volumeCount: number;
  readonly sizeBytes: number;
  /** Volumes that were removed before they were stored. */
  readonly skipped: readonly string[];
};

export type PoolBackupRun = StepRun<PoolBackupInput, null>;
export type PoolBackupStep = OperationStep<PoolBackupInput, null>;

export interface PoolBackupTools {
  readonly volumes: PoolVolumes;
  readonly restic: ResticAdapter;
  readonly repositories: Repositories;
  readonly store: Pick<Store, "run">;
  /** Returns the names of volumes that restores are still filling. */
  readonly namesBeingRestored: () => Promise<readonly string[]>;
}

/** Attempts per step, which cover a temporary outage of libvirt or the repository. */
export const maxAttempts = 10;

/** Returns the resource name of a volume, as used in errors, events and lists of backups. */
export function poolVolumeResourceOf(name: string): string {
  return `storagePool/volumes/${name}`;
}

/** Identifies the operation to `PoolVolumes`, as the holder of the volumes that it reads. */
export function holderOf({ operationId, input, signal }: PoolBackupRun): VolumesHolder {
  return { operationId, identity: input.identity, signal };
}

/** Opens the repository of the input with the gateway's key. @throws InfraError as Repositories.open */
export function openRepository({ repositories }: PoolBackupTools, { input }: Pick<PoolBackupRun, "input">) {
  return repositories.open(input.place, null, input.keyName);
}

/** Lists the volumes of the pool, except those that a restore has not completed. @throws InfraError as PoolVolumes.list */
export async function listWhole(
  { volumes, namesBeingRestored }: Pick<PoolBackupTools, "volumes" | "namesBeingRestored">,
  holder: Pick<VolumesHolder, "identity" | "signal">,
): Promise<readonly PoolVolume[]> {
  // Before and after the list: a restore may begin or end while it is read.
  const before = await namesBeingRestored();
  const listed = await volumes.list(holder);
  const beingRestored = new Set([...before, ...(await namesBeingRestored())]);
  return listed.filter(({ name }) => !beingRestored.has(name));
}

/** Lists the snapshots that the operation stored, oldest first. */
export function listStored(
  { restic }: PoolBackupTools,
  repository: Repository,
  { operationId, signal }: Pick<PoolBackupRun, "operationId" | "signal">,
): Promise<readonly ResticSnapshot[]> {
  return restic.list(repository, [operationTagOf(operationId)], signal);
}

/** Returns the output of the `choose` step. The casts here are safe: an output keeps the type that its step returned. */
export function chosenBy({ output }: Pick<PoolBackupRun, "output">): readonly ChosenVolume[] {
  return (output("choose") as ChooseOutput).volumes;
}

/** Returns the output of the `verify` step. */
export function verifiedBy({ output }: Pick<PoolBackupRun, "output">): VerifyOutput {
  return output("verify") as VerifyOutput;
}

/**
 * Rejects a pool if any of its volumes cannot be read, and names all of these.
 * @throws InfraError STORAGE_VOLUME_NOT_FOUND if there are no volumes, VOLUME_INACTIVE, NO_SPACE, STORAGE_VOLUME_IN_USE
 */
export function assertReadable(volumes: readonly PoolVolume[], poolName: string): void {
  const resource = "storagePool";
  if (volumes.length === 0) {
    throw new InfraError(libvirtReasons.STORAGE_VOLUME_NOT_FOUND, `${poolName} has no volumes to back up`, {
      resource,
    });
  }
  const refusals = volumes.flatMap(({ refusal }) => refusal ?? []);
  const [first] = refusals;
  if (first !== undefined) {
    const words = [...new Set(refusals.map(({ message }) => message))].join("; ");
    throw new InfraError(first.declared, words, { resource });
  }
}

/** Describes the result of a backup of the pool. */
export function describePoolBackup(poolName: string, result: PoolBackupResult): string {
  const { name, repository, volumeCount, sizeBytes, skipped } = result;
  const what = `${volumeCount} ${volumeCount === 1 ? "volume" : "volumes"} of ${poolName}, ${describeSize(BigInt(sizeBytes))}`;
  const without = skipped.length === 0 ? "" : `; removed meanwhile: ${skipped.join(", ")}`;
  return `${what}, stored as ${name} in ${repository}${without}`;
}

/** Returns the error for a backup that is not what was stored. @param what the rest of the sentence, after the repository */
export function damaged({ place }: PoolBackupInput, what: string): InfraError {
  return new InfraError(resticReasons.BACKUP_DAMAGED, `${describePlace(place)} ${what}`);
}
