import type { InfraError } from "../../../../../adapters/host/infra-error.ts";

/** A volume of the storage pool. */
export interface PoolVolume {
  readonly name: string;
  /** What no other volume of this name has: a UUID, or where it is. */
  readonly identity: string;
  /** How many bytes would be stored of it now. */
  readonly sizeBytes: number;
  /** Why it cannot be read as it is; undefined when it can. */
  readonly refusal: InfraError | undefined;
}

/** An operation that holds or makes volumes; what it makes is found again by its id. */
export interface VolumesHolder {
  readonly operationId: string;
  /** The pool that was meant, as `PoolState.identity`. */
  readonly identity: string;
  readonly signal: AbortSignal;
}

/** Volumes as they were at one moment. */
export interface HeldVolumes {
  readonly atMs: number;
  readonly volumes: readonly HeldVolume[];
  /** Refuses what holds them no more. @throws InfraError SNAPSHOT_FULL, VOLUME_NOT_FOUND */
  assertGood(): Promise<void>;
  /** To be called whatever happened. @throws what its tools throw: `release` then does it later */
  end(): Promise<void>;
}

export interface HeldVolume {
  readonly name: string;
  /** As restic takes it. */
  readonly source:
    | { readonly device: string; readonly sizeBytes: number }
    | { readonly content: AsyncIterable<Uint8Array>; readonly sizeBytes: number };
}

/** The volumes of a storage pool, whatever they are, as they are backed up. */
export interface PoolVolumes {
  /** Of the pool in the repository, which knows a volume as `poolName/name`. */
  readonly poolName: string;

  /** Has who keeps a list of the volumes look for those that came by other hands. @throws as `list` */
  refresh(signal: AbortSignal): Promise<void>;

  /**
   * All volumes, by name, read anew; without what operations have made for themselves.
   * @throws InfraError VOLUME_GROUP_GONE, STORAGE_POOL_NOT_FOUND, LIBVIRT_UNAVAILABLE, and what their tools throw
   */
  list(holder: Pick<VolumesHolder, "identity" | "signal">): Promise<readonly PoolVolume[]>;

  /**
   * Holds the first of these volumes fast as it is now, and those of the others that the same can be done with at the same
   * moment. The operation holds nothing else when it is called.
   * @throws InfraError STORAGE_VOLUME_IN_USE when a domain was started or stopped meanwhile, STORAGE_VOLUME_NOT_FOUND or
   *   VOLUME_NOT_FOUND when the first has gone, NO_SPACE, and as `list`; nothing is held then
   */
  hold(names: readonly [string, ...string[]], holder: VolumesHolder): Promise<HeldVolumes>;

  /** Lets go of whatever the operation holds, also what an earlier gateway held for it. @throws as `list` */
  release(holder: VolumesHolder): Promise<void>;
}

/** A volume that is to be made, and filled from a backup. */
export interface WantedVolume {
  readonly name: string;
  readonly sizeBytes: number;
}

/** A volume that is being filled. */
export type MadeVolume = {
  /** What no other volume has. */
  readonly identity: string;
};

/** What a volume is filled with, in either of two ways. */
export interface RestoredContent {
  /** All of it, at the reader's pace. */
  read(): AsyncIterable<Uint8Array>;
  /** Writes all of it to a block device. */
  writeTo(device: string): Promise<void>;
  onProgress(doneBytes: number): void;
}

/** How new volumes of a storage pool are made from backups. */
export interface RestoredVolumes {
  /** Refuses a name that a new volume cannot have. @throws InfraError INVALID_FIELD */
  assertName(name: string, field: string): void;
  /**
   * Refuses what cannot be made now.
   * @throws InfraError VOLUME_EXISTS or STORAGE_VOLUME_EXISTS, NO_SPACE, and as `PoolVolumes.list`
   */
  assertPossible(wanted: WantedVolume, holder: Pick<VolumesHolder, "identity" | "signal">): Promise<void>;
  /** What the operation has made; undefined when it has not. @throws InfraError STORAGE_VOLUME_IN_USE when nobody can tell */
  find(wanted: WantedVolume, holder: VolumesHolder): Promise<MadeVolume | undefined>;
  /** Makes the volume with all its space. @throws InfraError as `assertPossible` */
  create(wanted: WantedVolume, holder: VolumesHolder): Promise<MadeVolume>;
  /**
   * Fills it from its beginning.
   * @throws InfraError VOLUME_NOT_FOUND or STORAGE_VOLUME_NOT_FOUND, STORAGE_VOLUME_IN_USE, and what `content` throws
   */
  fill(
    wanted: WantedVolume,
    made: MadeVolume,
    content: RestoredContent,
    holder: VolumesHolder,
  ): Promise<void>;
  /** Gives it its name, by which it can be opened; safe to repeat. @throws InfraError VOLUME_EXISTS, VOLUME_NOT_FOUND */
  publish(wanted: WantedVolume, made: MadeVolume, holder: VolumesHolder): Promise<void>;
  /** Makes it a volume like any other, which `remove` does not find any more. */
  unmark(wanted: WantedVolume, holder: VolumesHolder): Promise<void>;
  /**
   * Removes what the operation has made, if it is there.
   * @param made undefined when nobody knows whether the operation has made it
   * @throws InfraError VOLUME_IN_USE or STORAGE_VOLUME_IN_USE; it is still there then
   */
  remove(wanted: WantedVolume, made: MadeVolume | undefined, holder: VolumesHolder): Promise<void>;
  /** What may be left when that has failed, and what to do. */
  leftOf(wanted: WantedVolume, operationId: string): { readonly left: string[]; readonly advice: string[] };
  /** The command that makes the volume, for plans. */
  createCommand(wanted: WantedVolume): readonly string[];
}
