import { compareResources } from "../../../events/compare-resources.ts";
import type { ObservedOsd } from "./observed-cluster.ts";
import type { StorageDifference, StorageEventType } from "./storage-difference.ts";

/**
 * Returns the changes from one list of OSDs to the other: removals first, then the others, in the order of their ids. Each
 * change of an OSD starts from the state of the one before. Changes between two reads that cancel each other out are included,
 * since the epochs of Ceph show them.
 */
export function osdDifferences(
  before: readonly ObservedOsd[],
  after: readonly ObservedOsd[],
): StorageDifference[] {
  return compareResources(before, after, ({ id }) => id).flatMap((pair) => {
    if (pair.after === undefined) {
      return [difference("osd.removed", pair.before, "removed", stateOf(pair.before))];
    }
    return pair.before === undefined
      ? [difference("osd.added", pair.after, stateOf(pair.after), "")]
      : changesOf(pair.before, pair.after);
  });
}

function changesOf(before: ObservedOsd, after: ObservedOsd): StorageDifference[] {
  const steps: { readonly type: StorageEventType; readonly osd: ObservedOsd }[] = [];
  const turn = (isUp: boolean) =>
    steps.push({ type: isUp ? "osd.up" : "osd.down", osd: { ...after, isUp, isIn: before.isIn } });
  if (before.isUp !== after.isUp) {
    turn(after.isUp);
  } else if (hasBeenElse(before, after)) {
    turn(!after.isUp);
    turn(after.isUp);
  }
  if (before.isIn !== after.isIn) {
    steps.push({ type: after.isIn ? "osd.in" : "osd.out", osd: after });
  }
  return steps.map(({ type, osd }, index) =>
    difference(type, osd, stateOf(osd), stateOf(steps[index - 1]?.osd ?? before)),
  );
}

/** Reports whether an OSD that is up was down in between, or the reverse. */
function hasBeenElse(before: ObservedOsd, after: ObservedOsd): boolean {
  return after.isUp ? after.downAtEpoch > before.downAtEpoch : after.upFromEpoch > before.upFromEpoch;
}

function stateOf({ isUp, isIn }: ObservedOsd): string {
  return `${isUp ? "up" : "down"}, ${isIn ? "in" : "out"}`;
}

function difference(
  type: StorageEventType,
  { id, host }: ObservedOsd,
  state: string,
  previousState: string,
): StorageDifference {
  return {
    type,
    part: ["osds", String(id)],
    detail: { cephDaemon: { name: `osd.${id}`, host, state, previousState } },
  };
}
