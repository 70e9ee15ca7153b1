import type { ObservedVolume } from "./observed-volumes.ts";

/** One thing that happened to a volume. */
export interface VolumeDifference {
  readonly type: "volume.created" | "volume.removed" | "volume.changed" | "volume.resized";
  /** As it is after that; a removed one as it was last. */
  readonly volume: ObservedVolume;
  /** As it was before that; undefined for a created one. */
  readonly before: ObservedVolume | undefined;
  /** For people, e.g. `active: no -> yes`. */
  readonly changes: readonly string[];
}

interface Pair {
  readonly before: ObservedVolume;
  readonly after: ObservedVolume;
}

/**
 * What makes one set of volumes the other, in an order in which each can happen: a name is free before it is given again.
 * A volume is the same as long as its UUID and its group's are. Where volumes have exchanged their names, one of them is told
 * as removed, and as created at the end.
 */
export function volumeDifferences(
  before: readonly ObservedVolume[],
  after: readonly ObservedVolume[],
): VolumeDifference[] {
  const known = new Map(before.map((volume) => [identityOf(volume), volume]));
  const pairs: Pair[] = [];
  const created: ObservedVolume[] = [];
  for (const volume of after) {
    const previous = known.get(identityOf(volume));
    known.delete(identityOf(volume));
    if (previous === undefined) {
      created.push(volume);
    } else {
      pairs.push({ before: previous, after: volume });
    }
  }
  return [
    ...[...known.values()].map((volume) => removal(volume, [])),
    ...orderedChanges(pairs),
    ...created.map((volume) => creation(volume, [])),
  ];
}

/** What a volume is called, with its group. */
export function pathOf({ groupName, name }: ObservedVolume): string {
  return `${groupName}/${name}`;
}

function orderedChanges(pairs: readonly Pair[]): VolumeDifference[] {
  const isRenamed = ({ before, after }: Pair) => pathOf(before) !== pathOf(after);
  const told: VolumeDifference[] = [];
  const recreated: VolumeDifference[] = [];
  let waiting = pairs.filter(isRenamed);
  const taken = new Set(waiting.map(({ before }) => pathOf(before)));
  while (waiting.length > 0) {
    const free = waiting.filter(({ after }) => !taken.has(pathOf(after)));
    for (const pair of free) {
      told.push(...changesOf(pair));
      taken.delete(pathOf(pair.before));
    }
    waiting = waiting.filter((pair) => !free.includes(pair));
    const [first] = waiting;
    if (free.length === 0 && first !== undefined) {
      const names = describeNames(first);
      told.push(removal(first.before, names));
      recreated.push(creation(first.after, names));
      taken.delete(pathOf(first.before));
      waiting = waiting.slice(1);
    }
  }
  const others = pairs.filter((pair) => !isRenamed(pair)).flatMap(changesOf);
  return [...told, ...others, ...recreated];
}

/** A size is told by an event of its own, behind one for everything else. */
function changesOf({ before, after }: Pair): VolumeDifference[] {
  const resized = { ...after, sizeBytes: before.sizeBytes };
  const changes = describeChanges({ before, after });
  const told: VolumeDifference[] = [];
  if (changes.length > 0) {
    told.push({ type: "volume.changed", volume: resized, before, changes });
  }
  if (after.sizeBytes !== before.sizeBytes) {
    told.push({ type: "volume.resized", volume: after, before: resized, changes: [] });
  }
  return told;
}

function describeChanges(pair: Pair): string[] {
  const { before, after } = pair;
  const yesNo = (value: boolean) => (value ? "yes" : "no");
  const list = (tags: readonly string[]) => (tags.length === 0 ? "none" : tags.join(", "));
  return [
    ...describeNames(pair),
    ...describe("tags", list(before.tags), list(after.tags)),
    ...describe("active", yesNo(before.isActive), yesNo(after.isActive)),
    ...describe("health", before.health, after.health),
    ...describe("kind", before.kind, after.kind),
    ...describe("origin", before.originName ?? "none", after.originName ?? "none"),
    ...describe("thin pool", before.thinPoolName ?? "none", after.thinPoolName ?? "none"),
  ];
}

function describeNames({ before, after }: Pair): string[] {
  return [
    ...describe("name", before.name, after.name),
    ...describe("volume group", before.groupName, after.groupName),
  ];
}

function describe(what: string, before: string, after: string): string[] {
  return before === after ? [] : [`${what}: ${before} -> ${after}`];
}

function creation(volume: ObservedVolume, changes: readonly string[]): VolumeDifference {
  return { type: "volume.created", volume, before: undefined, changes };
}

function removal(volume: ObservedVolume, changes: readonly string[]): VolumeDifference {
  return { type: "volume.removed", volume, before: volume, changes };
}

/** Volumes of a group that was cloned (vgimportclone) keep their UUIDs. */
function identityOf({ groupUuid, uuid }: ObservedVolume): string {
  return `${groupUuid} ${uuid}`;
}
