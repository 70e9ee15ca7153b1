import { isDeepStrictEqual } from "node:util";
import { compareResources, describeChange, type ResourcePair } from "../../../events/compare-resources.ts";
import type { ObservedVolume } from "./observed-volumes.ts";

/** A change of one volume. */
export interface VolumeDifference {
  readonly type: "volume.created" | "volume.removed" | "volume.changed" | "volume.resized";
  /** The volume after the change; for a removed volume, its last state. */
  readonly volume: ObservedVolume;
  /** The volume before the change; undefined for a created volume. */
  readonly before: ObservedVolume | undefined;
  /** Human-readable, for example `active: no -> yes`. */
  readonly changes: readonly string[];
}

interface Pair {
  readonly before: ObservedVolume;
  readonly after: ObservedVolume;
}

/**
 * Returns the changes from one set of volumes to the other, in an order in which each is possible: a name is free before it
 * is used again. A volume is identified by its UUID and its group's UUID. If volumes have swapped names, one of them is
 * reported as removed, and as created at the end.
 */
export function volumeDifferences(
  before: readonly ObservedVolume[],
  after: readonly ObservedVolume[],
): VolumeDifference[] {
  // Most volumes are the same objects, and those that are not may still be equal.
  const [earlier, later] = [new Set(before), new Set(after)];
  const all = compareResources(
    before.filter((volume) => !later.has(volume)),
    after.filter((volume) => !earlier.has(volume)),
    identityOf,
  );
  return [
    ...all.flatMap((pair) => (pair.after === undefined ? [removal(pair.before, [])] : [])),
    // Describing a pair costs much more than comparing it, and few of them differ.
    ...orderedChanges(all.filter(isKept).filter((pair) => !isDeepStrictEqual(pair.before, pair.after))),
    ...all.flatMap((pair) =>
      pair.after !== undefined && pair.before === undefined ? [creation(pair.after, [])] : [],
    ),
  ];
}

/** Returns the name of a volume with its group, such as `vg0/data`. */
function pathOf({ groupName, name }: ObservedVolume): string {
  return `${groupName}/${name}`;
}

function isKept(pair: ResourcePair<ObservedVolume, ObservedVolume>): pair is Pair {
  return pair.before !== undefined && pair.after !== undefined;
}

function orderedChanges(pairs: readonly Pair[]): VolumeDifference[] {
  const isRenamed = ({ before, after }: Pair) => pathOf(before) !== pathOf(after);
  const ordered: VolumeDifference[] = [];
  const recreated: VolumeDifference[] = [];
  let waiting = pairs.filter(isRenamed);
  const taken = new Set(waiting.map(({ before }) => pathOf(before)));
  while (waiting.length > 0) {
    const free = waiting.filter(({ after }) => !taken.has(pathOf(after)));
    for (const pair of free) {
      ordered.push(...changesOf(pair));
      taken.delete(pathOf(pair.before));
    }
    waiting = waiting.filter((pair) => !free.includes(pair));
    const [first] = waiting;
    if (free.length === 0 && first !== undefined) {
      const names = describeNames(first);
      ordered.push(removal(first.before, names));
      recreated.push(creation(first.after, names));
      taken.delete(pathOf(first.before));
      waiting = waiting.slice(1);
    }
  }
  const others = pairs.filter((pair) => !isRenamed(pair)).flatMap(changesOf);
  return [...ordered, ...others, ...recreated];
}

/** Returns one difference for everything except the size, then one for the size. */
function changesOf({ before, after }: Pair): VolumeDifference[] {
  const resized = { ...after, sizeBytes: before.sizeBytes };
  const changes = describeChanges({ before, after });
  const differences: VolumeDifference[] = [];
  if (changes.length > 0) {
    differences.push({ type: "volume.changed", volume: resized, before, changes });
  }
  if (after.sizeBytes !== before.sizeBytes) {
    differences.push({ type: "volume.resized", volume: after, before: resized, changes: [] });
  }
  return differences;
}

function describeChanges(pair: Pair): string[] {
  const { before, after } = pair;
  const yesNo = (value: boolean) => (value ? "yes" : "no");
  const list = (tags: readonly string[]) => (tags.length === 0 ? "none" : tags.join(", "));
  return [
    ...describeNames(pair),
    ...describeChange("tags", list(before.tags), list(after.tags)),
    ...describeChange("active", yesNo(before.isActive), yesNo(after.isActive)),
    ...describeChange("health", before.health, after.health),
    ...describeChange("kind", before.kind, after.kind),
    ...describeChange("origin", before.originName ?? "none", after.originName ?? "none"),
    ...describeChange("thin pool", before.thinPoolName ?? "none", after.thinPoolName ?? "none"),
  ];
}

function describeNames({ before, after }: Pair): string[] {
  return [
    ...describeChange("name", before.name, after.name),
    ...describeChange("volume group", before.groupName, after.groupName),
  ];
}

function creation(volume: ObservedVolume, changes: readonly string[]): VolumeDifference {
  return { type: "volume.created", volume, before: undefined, changes };
}

function removal(volume: ObservedVolume, changes: readonly string[]): VolumeDifference {
  return { type: "volume.removed", volume, before: volume, changes };
}

/** Returns a key that includes the group: volumes of a cloned group (vgimportclone) keep their UUIDs. */
function identityOf({ groupUuid, uuid }: ObservedVolume): string {
  return `${groupUuid} ${uuid}`;
}
