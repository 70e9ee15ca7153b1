import { compareResources } from "../../../events/compare-resources.ts";
import type { ObservedMds, ObservedMgrs, ObservedMon, ObservedRgw } from "./observed-cluster.ts";
import type { StorageDifference, StorageEventType } from "./storage-difference.ts";

/** Returns the host of a daemon such as `mon.a`; empty if it is unknown. */
export type HostOf = (daemon: string) => string;

/** State of a daemon that no longer exists. */
const gone = "gone";

/** Returns the monitors that joined or left the quorum. */
export function monDifferences(
  before: readonly ObservedMon[],
  after: readonly ObservedMon[],
  hostOf: HostOf,
): StorageDifference[] {
  const [earlier, later] = [quorumOf(before), quorumOf(after)];
  const left = [...earlier].filter((name) => !later.has(name));
  const joined = [...later].filter((name) => !earlier.has(name));
  const stateIn = (mons: readonly ObservedMon[], name: string) =>
    mons.some((mon) => mon.name === name) ? "out of quorum" : undefined;
  return [
    ...left.map((name) =>
      difference("mon.left", "mon", name, hostOf, stateIn(after, name) ?? gone, "in quorum"),
    ),
    ...joined.map((name) =>
      difference("mon.joined", "mon", name, hostOf, "in quorum", stateIn(before, name) ?? ""),
    ),
  ];
}

function quorumOf(mons: readonly ObservedMon[]): Set<string> {
  return new Set(mons.filter(({ isInQuorum }) => isInQuorum).map(({ name }) => name));
}

/** Returns a change of the active manager. If the same manager was inactive in between, that is reported as well. */
export function mgrDifferences(
  before: ObservedMgrs,
  after: ObservedMgrs,
  hostOf: HostOf,
): StorageDifference[] {
  const isSame = before.active === after.active;
  if (isSame && (after.active === null || before.activeChangedAtMs === after.activeChangedAtMs)) {
    return [];
  }
  const stateIn = ({ standbys }: ObservedMgrs, name: string) =>
    standbys.includes(name) ? "standby" : undefined;
  const none = (name: string, state: string) => difference("mgr.none", "mgr", name, hostOf, state, "active");
  const active = (name: string, previous: string) =>
    difference("mgr.active", "mgr", name, hostOf, "active", previous);
  if (after.active === null) {
    const last = before.active ?? "";
    return [none(last, stateIn(after, last) ?? gone)];
  }
  return isSame
    ? [none(after.active, gone), active(after.active, gone)]
    : [active(after.active, stateIn(before, after.active) ?? "")];
}

/** Returns the metadata servers that were added, were removed, or changed their state. */
export function mdsDifferences(
  before: readonly ObservedMds[],
  after: readonly ObservedMds[],
  hostOf: HostOf,
): StorageDifference[] {
  return compareResources(before, after, ({ name }) => name)
    .map((pair) => ({
      name: (pair.after ?? pair.before).name,
      state: pair.after?.state ?? gone,
      previous: pair.before?.state ?? "",
    }))
    .filter(({ state, previous }) => state !== previous)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, state, previous }) => difference("mds.changed", "mds", name, hostOf, state, previous));
}

/** Returns the object gateways that were added or removed. Gateways on different hosts may share a name. */
export function rgwDifferences(
  before: readonly ObservedRgw[],
  after: readonly ObservedRgw[],
): StorageDifference[] {
  const keyOf = ({ name, host }: ObservedRgw) => `${host} ${name}`;
  return compareResources(before, after, keyOf).flatMap((pair) => {
    const { name, host } = pair.after ?? pair.before;
    if (pair.after === undefined) {
      return [difference("rgw.removed", "rgw", name, () => host, gone, "up")];
    }
    return pair.before === undefined ? [difference("rgw.added", "rgw", name, () => host, "up", "")] : [];
  });
}

function difference(
  type: StorageEventType,
  kind: "mon" | "mgr" | "mds" | "rgw",
  id: string,
  hostOf: HostOf,
  state: string,
  previousState: string,
): StorageDifference {
  const name = `${kind}.${id}`;
  const facts = { name, host: hostOf(name), state, previousState };
  return { type, part: [`${kind}s`, id], detail: { cephDaemon: facts } };
}
