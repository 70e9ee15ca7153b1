import type { InfraError } from "../../../../../adapters/host/infra-error.ts";

/** A volume of the storage pool. */
export interface PoolVolume {
  readonly name: string;
  /** Distinguishes it from other volumes of the same name: a UUID or a path. */
  readonly identity: string;
  /** Bytes that a backup of it would store now. */
  readonly sizeBytes: number;
  /** Why it cannot be read in its current state; undefined if it can. */
  readonly refusal: InfraError | undefined;
}

/** An operation that holds or creates volumes; what it creates is found again by its id. */
export interface VolumesHolder {
  readonly operationId: string;
  /** `PoolState.identity` of the pool that the request is about. */
  readonly identity: string;
  readonly signal: AbortSignal;
}

/** Volumes as of one point in time. */
export interface HeldVolumes {
  readonly atMs: number;
  readonly volumes: readonly HeldVolume[];
  /** Checks that the volumes are still held. @throws InfraError SNAPSHOT_FULL, VOLUME_NOT_FOUND */
  assertGood(): Promise<void>;
  /** Ends the hold; must be called in any case. @throws what its tools throw; `release` then ends the hold later */
  end(): Promise<void>;
}

export interface HeldVolume {
  readonly name: string;
  /** Input for restic. */
  readonly source:
    | { readonly device: string; readonly sizeBytes: number }
    | { readonly content: AsyncIterable<Uint8Array>; readonly sizeBytes: number };
}

/** The volumes of a storage pool of any kind, for backups. */
export interface PoolVolumes {
  /** Name of the pool in the repository, where a volume is called `poolName/name`. */
  readonly poolName: string;

  /** Updates a cached list of the volumes with those that were created from outside. @throws as `list` */
  refresh(signal: AbortSignal): Promise<void>;

  /**
   * Reads all volumes, sorted by name, without those that operations created for themselves.
   * @throws InfraError VOLUME_GROUP_GONE, STORAGE_POOL_NOT_FOUND, LIBVIRT_UNAVAILABLE, and what their tools throw
   */
  list(holder: Pick<VolumesHolder, "identity" | "signal">): Promise<readonly PoolVolume[]>;

  /**
   * Freezes the first of these volumes in its current state, and those of the others that can be frozen at the same point in
   * time. The operation must not hold any other volumes.
   * @throws InfraError STORAGE_VOLUME_IN_USE if a VM was started or stopped meanwhile, STORAGE_VOLUME_NOT_FOUND or
   *   VOLUME_NOT_FOUND if the first volume is gone, NO_SPACE, and as `list`; nothing is held then
   */
  hold(names: readonly [string, ...string[]], holder: VolumesHolder): Promise<HeldVolumes>;

  /** Releases everything that the operation holds, including what an earlier gateway process held for it. @throws as `list` */
  release(holder: VolumesHolder): Promise<void>;
}

/** A volume to create and fill from a backup. */
export interface PoolVolumeSpec {
  readonly name: string;
  readonly sizeBytes: number;
}

/** A volume that is being filled. */
export type CreatedVolume = {
  /** Unique among all volumes. */
  readonly identity: string;
};

/** Content of a restored volume, which can be consumed in either of two ways. */
export interface RestoredContent {
  /** Returns all content, at the reader's pace. */
  read(): AsyncIterable<Uint8Array>;
  /** Writes all content to a block device. */
  writeTo(device: string): Promise<void>;
  onProgress(doneBytes: number): void;
}

/** Creates new volumes of a storage pool from backups. */
export interface RestoredVolumes {
  /** Rejects a name that a new volume cannot have. @throws InfraError INVALID_FIELD */
  assertName(name: string, field: string): void;
  /**
   * Rejects a volume that cannot be created now.
   * @throws InfraError VOLUME_EXISTS or STORAGE_VOLUME_EXISTS, NO_SPACE, and as `PoolVolumes.list`
   */
  assertPossible(spec: PoolVolumeSpec, holder: Pick<VolumesHolder, "identity" | "signal">): Promise<void>;
  /**
   * Returns the volume that the operation created; undefined if there is none.
   * @throws InfraError STORAGE_VOLUME_IN_USE if that cannot be determined
   */
  find(spec: PoolVolumeSpec, holder: VolumesHolder): Promise<CreatedVolume | undefined>;
  /** Creates the volume, fully allocated. @throws InfraError as `assertPossible` */
  create(spec: PoolVolumeSpec, holder: VolumesHolder): Promise<CreatedVolume>;
  /**
   * Fills the volume from its beginning.
   * @throws InfraError VOLUME_NOT_FOUND or STORAGE_VOLUME_NOT_FOUND, STORAGE_VOLUME_IN_USE, and what `content` throws
   */
  fill(
    spec: PoolVolumeSpec,
    created: CreatedVolume,
    content: RestoredContent,
    holder: VolumesHolder,
  ): Promise<void>;
  /** Renames the volume to its final name; idempotent. @throws InfraError VOLUME_EXISTS, VOLUME_NOT_FOUND */
  publish(spec: PoolVolumeSpec, created: CreatedVolume, holder: VolumesHolder): Promise<void>;
  /** Removes the operation's marks from the volume; `remove` no longer finds it then. */
  unmark(spec: PoolVolumeSpec, holder: VolumesHolder): Promise<void>;
  /**
   * Removes the volume that the operation created, if it exists.
   * @param created undefined if it is unknown whether the operation created the volume
   * @throws InfraError VOLUME_IN_USE or STORAGE_VOLUME_IN_USE; the volume still exists then
   */
  remove(spec: PoolVolumeSpec, created: CreatedVolume | undefined, holder: VolumesHolder): Promise<void>;
  /** Describes what may be left after `remove` failed, and what to do. */
  leftOf(spec: PoolVolumeSpec, operationId: string): { readonly left: string[]; readonly advice: string[] };
  /** Returns the command that creates the volume, for plans. */
  createCommand(spec: PoolVolumeSpec): readonly string[];
}
