import type { CephCrash } from "../../../../adapters/ceph/adapter.ts";
import { compareResources } from "../../../events/compare-resources.ts";
import type { ObservedCluster } from "./observed-cluster.ts";
import type { StorageDifference } from "./storage-difference.ts";

/** Returns the crashes that were reported or archived since, oldest first. Crashes that Ceph has purged are not reported. */
export function crashDifferences(
  before: NonNullable<ObservedCluster["crashes"]>,
  after: readonly CephCrash[],
): StorageDifference[] {
  const sorted = after.toSorted((a, b) => a.atMs - b.atMs);
  const idOf = ({ id }: { readonly id: string }) => id;
  return compareResources(before, sorted, idOf).flatMap(({ before: last, after: crash }) => {
    if (crash === undefined) {
      return [];
    }
    const isArchivedSince = crash.isArchived && last?.isArchived !== true;
    return [
      ...(last === undefined ? [difference("crash.reported", crash)] : []),
      ...(isArchivedSince ? [difference("crash.archived", crash)] : []),
    ];
  });
}

function difference(
  type: "crash.reported" | "crash.archived",
  { id, entity, host, atMs, what }: CephCrash,
): StorageDifference {
  // 0 means that the crash report has no time.
  const at = atMs === 0 ? {} : { at: new Date(atMs).toISOString() };
  const facts = { id, entity, host, ...at, what };
  return { type, part: ["crashes", id], detail: { cephCrash: facts } };
}
