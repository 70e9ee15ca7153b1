import fc from "fast-check";
import type { LogicalVolume, LvmState } from "../../../../../adapters/lvm/adapter.ts";
import type { ObservedVolumes } from "../../../../../server/domains/volumes/events/observed-volumes.ts";
import type { NewEvent } from "../../../../../server/events/store/events.ts";
import { groupOf, stateOf, volumeOf } from "../lvm-state.ts";

/** The volumes as reconstructed from events alone: size and tags by resource. */
export type Picture = Map<string, { readonly sizeBytes: string; readonly tags: readonly string[] }>;

interface VolumePayload {
  readonly volume?: {
    readonly name: string;
    readonly volumeGroup: string;
    readonly sizeBytes: string;
    readonly previousSizeBytes?: string;
    readonly tags: readonly string[];
    readonly changes: readonly string[];
  };
}

export function pictureOf({ volumes }: Pick<ObservedVolumes, "volumes">): Picture {
  return new Map(
    volumes.map(({ groupName, name, sizeBytes, tags }) => [
      `volumeGroups/${groupName}/volumes/${name}`,
      { sizeBytes, tags },
    ]),
  );
}

/** Applies one event to the picture. @throws Error if the event is impossible in this state */
export function applyEvent(picture: Picture, { type, resource, payload }: NewEvent): void {
  const { volume } = payload as VolumePayload;
  if (volume === undefined) {
    return;
  }
  const { sizeBytes, tags } = volume;
  const before = oldResourceOf(resource, volume.changes);
  assertPossible(
    type === "volume.created" || picture.has(before),
    `${type} of ${before}, which does not exist`,
  );
  if (type === "volume.removed") {
    picture.delete(resource);
    return;
  }
  const previous = picture.get(before);
  if (type === "volume.resized") {
    assertPossible(previous?.sizeBytes === volume.previousSizeBytes, "the previous size differs");
  } else if (type === "volume.changed") {
    assertPossible(previous?.sizeBytes === sizeBytes, "a change of size without an event for it");
    picture.delete(before);
  }
  assertPossible(type === "volume.resized" || !picture.has(resource), `${resource} already exists`);
  picture.set(resource, { sizeBytes, tags });
}

function oldResourceOf(resource: string, changes: readonly string[]): string {
  const [, group = "", , name = ""] = resource.split("/");
  const old = (what: string) =>
    changes.flatMap((change) => new RegExp(`^${what}: (\\S+) -> `).exec(change)?.[1] ?? [])[0];
  return `volumeGroups/${old("volume group") ?? group}/volumes/${old("name") ?? name}`;
}

function assertPossible(condition: boolean, message: string): void {
  if (!condition) {
    throw new Error(message);
  }
}

const volumeFacts = fc.record({
  group: fc.nat(2),
  uuid: fc.nat(7),
  name: fc.nat(7),
  extents: fc.bigInt({ min: 1n, max: 3n }),
  tags: fc.subarray(["a", "b"]),
  active: fc.boolean(),
  health: fc.constantFrom<LogicalVolume["health"]>("ok", "partial"),
});

/** States of a few groups and volumes, whose names and UUIDs overlap enough for renames, moves and swaps to occur. */
export const states: fc.Arbitrary<LvmState> = fc
  .record({
    groups: fc.uniqueArray(fc.record({ uuid: fc.nat(2), name: fc.nat(2) }), {
      maxLength: 3,
      comparator: (a, b) => a.uuid === b.uuid || a.name === b.name,
    }),
    volumes: fc.uniqueArray(volumeFacts, {
      maxLength: 10,
      comparator: (a, b) => a.group === b.group && (a.uuid === b.uuid || a.name === b.name),
    }),
  })
  .map(({ groups, volumes }) =>
    stateOf(
      groups.map(({ uuid, name }) => ({ ...groupOf(`vg${name}`, 50n << 30n), uuid: `group-${uuid}` })),
      volumes
        .filter(({ group }) => groups.some(({ name }) => name === group))
        .map(({ group, uuid, name, extents, tags, active, health }) =>
          volumeOf(`vg${group}`, `lv${name}`, {
            uuid: `lv-${uuid}`,
            sizeBytes: extents << 22n,
            tags,
            active,
            health,
          }),
        ),
    ),
  );
