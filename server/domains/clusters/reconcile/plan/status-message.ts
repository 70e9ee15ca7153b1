import type { ClusterRecord, ClusterStatusName, SlotRecord, SlotState } from "../../store/records.ts";
import { type ClusterView, isServing, machineOf, readinessOf } from "./cluster-view.ts";
import { groupsOf, isOutdated, type SlotGroup } from "./slot-group.ts";

const maxLength = 500;
const maxNames = 3;

/** Facts about a cluster that are not in its records. */
export interface StatusFacts {
  readonly status: ClusterStatusName;
  readonly isSettled: boolean;
  readonly isLost: boolean;
  /** By slot uid, as from `machineProblemOf`. */
  readonly problems: ReadonlyMap<string, string>;
}

/** Texts for the machines' current activities. */
const doings: readonly (readonly [states: readonly SlotState[], one: string, many: string])[] = [
  [["joined"], "is not ready", "are not ready"],
  [["booted"], "is joining", "are joining"],
  [["deploying"], "is being installed", "are being installed"],
  [["allocated", "annotated"], "is waiting to be installed", "are waiting to be installed"],
  [["wanted", "candidate"], "is being chosen", "are being chosen"],
  [["draining"], "is being drained", "are being drained"],
  [["releasing"], "is being released", "are being released"],
];

/**
 * Describes a status in a sentence or two: the numbers, problems that need intervention, and current activities; empty when
 * all is well. At most 500 characters.
 */
export function statusMessageOf(
  cluster: ClusterRecord,
  slots: readonly SlotRecord[],
  view: ClusterView,
  facts: StatusFacts,
): string {
  const unreadableWhy = "unreadable" in view.machines ? view.machines.unreadable : undefined;
  // Each cause is shown only once.
  const problems = new Map([...facts.problems].filter(([, problem]) => problem !== unreadableWhy));
  const atWork = slots.filter(
    (slot) => !problems.has(slot.uid) && (slot.state !== "joined" || readinessOf(slot, view) === "notReady"),
  );
  const unreadable = unreadableWhy === undefined ? [] : [`MAAS cannot be read: ${unreadableWhy}`];
  const parts = [
    ...situationOf(cluster, slots, view, facts),
    ...unreadable,
    ...problemsOf(slots, view, problems),
    ...workOf(atWork, view),
  ];
  const text = parts.join("; ");
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1)}…`;
}

function situationOf(
  cluster: ClusterRecord,
  slots: readonly SlotRecord[],
  view: ClusterView,
  { status, isSettled, isLost }: StatusFacts,
): readonly string[] {
  if (status === "stopping") {
    return [];
  }
  if (isLost) {
    return [
      view.api?.isReachable === true
        ? "no machine of the control plane is known; adopt those that exist in MAAS"
        : "no machine of the control plane is left, so the cluster's data is lost; adopt one if it still exists in MAAS, or delete the cluster",
    ];
  }
  if (cluster.hasRun && view.api?.isReachable !== true) {
    return [`the API server cannot be reached${view.api === undefined ? "" : `: ${view.api.why}`}`];
  }
  if (isSettled) {
    return [];
  }
  const groups = groupsOf(cluster, slots);
  const desired = groups.reduce((sum, { count }) => sum + count, 0);
  // A surplus machine in one pool, as during an upgrade, does not make up for a missing one in another.
  const numberOf = (counts: (slot: SlotRecord, group: SlotGroup) => boolean) =>
    groups
      .map((group) => Math.min(group.count, group.live.filter((slot) => counts(slot, group)).length))
      .reduce((sum, count) => sum + count, 0);
  const ready = numberOf((slot) => isServing(slot, view));
  const upgraded = numberOf((slot, group) => slot.state === "joined" && !isOutdated(slot, group));
  const isUpgrade = groups.some((group) =>
    group.live.some((slot) => slot.state === "joined" && isOutdated(slot, group)),
  );
  return [
    `${ready} of ${desired} machines are ready`,
    ...(isUpgrade ? [`${upgraded} of ${desired} have the new version`] : []),
  ];
}

function problemsOf(
  slots: readonly SlotRecord[],
  view: ClusterView,
  problems: ReadonlyMap<string, string>,
): readonly string[] {
  const slotsByProblem = Map.groupBy(
    slots.filter(({ uid }) => problems.has(uid)),
    ({ uid }) => problems.get(uid) ?? "",
  );
  return [...slotsByProblem].map(([problem, those]) => {
    const names = namesOf(those, view);
    if (names === undefined) {
      return `${problem} for ${those.length}`;
    }
    return problem.includes(names) ? problem : `${names}: ${problem}`;
  });
}

function workOf(slots: readonly SlotRecord[], view: ClusterView): readonly string[] {
  return doings.flatMap(([states, one, many]) => {
    const those = slots.filter(({ state }) => states.includes(state));
    const number = those.length === 1 ? "1 machine" : `${those.length} machines`;
    return those.length === 0 ? [] : [`${namesOf(those, view) ?? number} ${those.length === 1 ? one : many}`];
  });
}

/** Undefined when not all of them have a name yet. */
function namesOf(slots: readonly SlotRecord[], view: ClusterView): string | undefined {
  const names = slots.flatMap((slot) => slot.hostname ?? machineOf(slot, view)?.hostname ?? []);
  if (names.length < slots.length) {
    return undefined;
  }
  const shown = names.slice(0, maxNames).join(", ");
  return names.length > maxNames ? `${shown} and ${names.length - maxNames} more` : shown;
}
