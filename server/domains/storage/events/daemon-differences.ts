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
  const stateBefore = new Map(before.map(({ name, state }) => [name, state]));
  const stateAfter = new Map(after.map(({ name, state }) => [name, state]));
  const names = [...new Set([...stateBefore.keys(), ...stateAfter.keys()])].toSorted();
  return names
    .filter((name) => stateBefore.get(name) !== stateAfter.get(name))
    .map((name) =>
      difference(
        "mds.changed",
        "mds",
        name,
        hostOf,
        stateAfter.get(name) ?? gone,
        stateBefore.get(name) ?? "",
      ),
    );
}

/** Returns the object gateways that were added or removed. Gateways on different hosts may share a name. */
export function rgwDifferences(
  before: readonly ObservedRgw[],
  after: readonly ObservedRgw[],
): StorageDifference[] {
  const isIn = (rgws: readonly ObservedRgw[], { name, host }: ObservedRgw) =>
    rgws.some((each) => each.name === name && each.host === host);
  const removed = before.filter((rgw) => !isIn(after, rgw));
  const added = after.filter((rgw) => !isIn(before, rgw));
  return [
    ...removed.map(({ name, host }) => difference("rgw.removed", "rgw", name, () => host, gone, "up")),
    ...added.map(({ name, host }) => difference("rgw.added", "rgw", name, () => host, "up", "")),
  ];
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
