import { z } from "zod";
import type { LogicalVolume, LvmState } from "../../../../adapters/lvm/adapter.ts";

const bytes = z.string().regex(/^\d{1,20}$/);

const observedGroup = z.object({
  uuid: z.string(),
  name: z.string(),
  sizeBytes: bytes,
  freeBytes: bytes,
  missingPvCount: z.number(),
  /** The group existed earlier and is missing now; its volumes are kept as last seen. */
  isAway: z.boolean(),
});

const observedVolume = z.object({
  uuid: z.string(),
  name: z.string(),
  groupUuid: z.string(),
  groupName: z.string(),
  sizeBytes: bytes,
  tags: z.array(z.string()),
  kind: z.string(),
  isActive: z.boolean(),
  health: z.string(),
  originName: z.string().nullable(),
  thinPoolName: z.string().nullable(),
});

const observedVolumes = z.object({
  groups: z.array(observedGroup),
  volumes: z.array(observedVolume),
  /** Names of the stores that are low on space (`ClassStore.name`); with " metadata" behind it for the metadata of a pool. */
  low: z.array(z.string()),
});

export type ObservedGroup = Readonly<z.infer<typeof observedGroup>>;

export type ObservedVolume = Readonly<z.infer<typeof observedVolume>>;

/**
 * The part of LVM's state that events cover, as JSON; kept for comparison with the next state. Properties that change without
 * a change to LVM, such as `open`, are left out.
 */
export interface ObservedVolumes {
  readonly groups: readonly ObservedGroup[];
  readonly volumes: readonly ObservedVolume[];
  readonly low: readonly string[];
}

/** Parses the stored state; undefined if the format is unknown, for example written by another version of hostplane. */
export function parseObservedVolumes(json: unknown): ObservedVolumes | undefined {
  const parsed = observedVolumes.safeParse(json);
  return parsed.success ? parsed.data : undefined;
}

const observedBefore = new WeakMap<LogicalVolume, ObservedVolume>();

/** Returns the same object again for the same volume in the same group, so that comparisons can skip it. */
function observedVolumeOf(volume: LogicalVolume, groupUuid: string): ObservedVolume {
  const kept = observedBefore.get(volume);
  if (kept?.groupUuid === groupUuid) {
    return kept;
  }
  const observed = {
    uuid: volume.uuid,
    name: volume.name,
    groupUuid,
    groupName: volume.volumeGroupName,
    sizeBytes: String(volume.sizeBytes),
    tags: [...volume.tags],
    kind: volume.kind,
    isActive: volume.active,
    health: volume.health,
    originName: volume.originName ?? null,
    thinPoolName: volume.thinPoolName ?? null,
  };
  observedBefore.set(volume, observed);
  return observed;
}

/**
 * Returns the groups and volumes of a state. A group of `before` that is missing now is kept as away, with its volumes, until
 * it returns or another group takes its name: unplugging a disk does not remove volumes.
 */
export function observeVolumes(
  before: ObservedVolumes | undefined,
  state: LvmState,
): Omit<ObservedVolumes, "low"> {
  const there = state.volumeGroups.map(({ uuid, name, sizeBytes, freeBytes, missingPvCount }) => ({
    uuid,
    name,
    sizeBytes: String(sizeBytes),
    freeBytes: String(freeBytes),
    missingPvCount,
    isAway: false,
  }));
  const uuids = new Map(there.map(({ name, uuid }) => [name, uuid]));
  const isKnown = (group: ObservedGroup) =>
    uuids.has(group.name) || there.some(({ uuid }) => uuid === group.uuid);
  const away = (before?.groups ?? [])
    .filter((group) => !isKnown(group))
    .map((group) => ({ ...group, isAway: true }));
  const awayUuids = new Set(away.map(({ uuid }) => uuid));
  const volumes = state.volumes.map((volume) =>
    observedVolumeOf(volume, uuids.get(volume.volumeGroupName) ?? ""),
  );
  const awayVolumes = (before?.volumes ?? []).filter(({ groupUuid }) => awayUuids.has(groupUuid));
  return { groups: [...there, ...away], volumes: [...volumes, ...awayVolumes] };
}
