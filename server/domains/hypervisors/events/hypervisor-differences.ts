import { compareResources, describeChange } from "../../../events/compare-resources.ts";
import type { ObservedHypervisor } from "./observed-hypervisors.ts";

/** A change of one hypervisor. */
export interface HypervisorDifference {
  readonly type:
    | "hypervisor.added"
    | "hypervisor.removed"
    | "hypervisor.started"
    | "hypervisor.stopped"
    | "hypervisor.unknown"
    | "hypervisor.changed";
  /** The hypervisor after the change; for a removed one, its last state. */
  readonly hypervisor: ObservedHypervisor;
  /** The hypervisor before the change; undefined for an added one. */
  readonly before: ObservedHypervisor | undefined;
  /** Human-readable, for example `memory: 8192 MB -> 16384 MB`. */
  readonly changes: readonly string[];
}

/** Returns the changes from one inventory to the other: removals first, then the others, each in the order of ids. */
export function hypervisorDifferences(
  before: readonly ObservedHypervisor[],
  after: readonly ObservedHypervisor[],
): HypervisorDifference[] {
  return compareResources(before, after, ({ id }) => id).flatMap((pair) => {
    if (pair.after === undefined) {
      return [difference("hypervisor.removed", pair.before, pair.before)];
    }
    return pair.before === undefined
      ? [difference("hypervisor.added", pair.after, undefined)]
      : differencesOf(pair.before, pair.after);
  });
}

/** Returns changed facts first, then a change of state. */
function differencesOf(before: ObservedHypervisor, after: ObservedHypervisor): HypervisorDifference[] {
  if (!before.isDefined && !after.isDefined) {
    // Without a VM, an outage of libvirt changes nothing; only the facts of the template may differ.
    return factsChanged(before, after, describeChanges(before, after));
  }
  const changes = describeChanges(before, after);
  const isBack = before.state === "unknown" && after.state !== "unknown" && before.lastState === after.state;
  const all = isBack ? [...changes, `state: unknown -> ${after.state}`] : changes;
  const type = isBack ? undefined : stateType(before, after);
  return [
    ...factsChanged(before, after, all),
    ...(type === undefined ? [] : [difference(type, after, before)]),
  ];
}

function factsChanged(
  before: ObservedHypervisor,
  after: ObservedHypervisor,
  changes: readonly string[],
): HypervisorDifference[] {
  return changes.length > 0 ? [{ ...difference("hypervisor.changed", after, before), changes }] : [];
}

function stateType(
  before: ObservedHypervisor,
  after: ObservedHypervisor,
): HypervisorDifference["type"] | undefined {
  if (before.state === after.state) {
    return undefined;
  }
  switch (after.state) {
    case "running":
      return "hypervisor.started";
    case "off":
      return "hypervisor.stopped";
    case "unknown":
      return "hypervisor.unknown";
  }
}

function describeChanges(before: ObservedHypervisor, after: ObservedHypervisor): string[] {
  const list = (words: readonly string[]) => (words.length === 0 ? "none" : words.join(", "));
  const gpus = ({ gpus: all }: ObservedHypervisor) =>
    list(all.map(({ brand, model }) => `${brand} ${model}`.trim() || "unnamed"));
  return [
    ...describeChange("threads", String(before.threadCount), String(after.threadCount)),
    ...describeChange("memory", `${before.memoryMib} MB`, `${after.memoryMib} MB`),
    ...describeChange("capabilities", list(before.capabilities), list(after.capabilities)),
    ...describeChange("GPUs", gpus(before), gpus(after)),
  ];
}

function difference(
  type: HypervisorDifference["type"],
  hypervisor: ObservedHypervisor,
  before: ObservedHypervisor | undefined,
): HypervisorDifference {
  return { type, hypervisor, before, changes: [] };
}
