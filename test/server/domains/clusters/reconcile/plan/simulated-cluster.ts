import type { ClusterView } from "../../../../../../server/domains/clusters/reconcile/plan/cluster-view.ts";
import { isLive } from "../../../../../../server/domains/clusters/reconcile/plan/leave-order.ts";
import {
  planSlots,
  type SlotPlan,
} from "../../../../../../server/domains/clusters/reconcile/plan/plan-slots.ts";
import type { ClusterRecord, SlotRecord } from "../../../../../../server/domains/clusters/store/records.ts";
import { images, machineFrom, nodeFrom, nowMs } from "./sample-cluster.ts";

/** Returns random numbers from 0 (inclusive) to 1 (exclusive). */
export type Chance = () => number;

/** The next states of a machine without incidents. */
const next: Partial<Record<SlotRecord["state"], SlotRecord["state"]>> = {
  candidate: "allocated",
  allocated: "annotated",
  annotated: "deploying",
  deploying: "booted",
  booted: "joined",
  draining: "releasing",
  releasing: "released",
};

/** Simulates a cluster as a reconciler would drive it, with a given number of free machines and with incidents. */
export interface SimulatedCluster {
  cluster: ClusterRecord;
  readonly slots: () => readonly SlotRecord[];
  readonly view: () => ClusterView;
  /** Plans and applies the plan; `check` receives the plan first. */
  pass(check: (plan: SlotPlan) => void): void;
  /** Advances each machine at random; with `isCalm` always, and without incidents. */
  step(isCalm: boolean): void;
  /** Sets the number of machines, free or allocated. Allocated ones are kept even if there are more. */
  setMachines(instanceType: string, count: number): void;
}

export function createSimulatedCluster(cluster: ClusterRecord, chance: Chance): SimulatedCluster {
  let slots: readonly SlotRecord[] = [];
  let createdCount = 0;
  const machines = new Map<string, number>();
  const unready = new Set<string>();
  let isApiDown = false;
  let isMaasDown = false;
  const servers = () => slots.filter(({ pool }) => pool === undefined);
  const isServing = (slot: SlotRecord) => slot.state === "joined" && !unready.has(slot.uid);
  const self: SimulatedCluster = { cluster, slots: () => slots, view, pass, step, setMachines };

  function view(): ClusterView {
    const nodes = slots.filter(({ state }) => state === "joined" || state === "draining");
    const hasApi = servers().some(({ state }) => state === "joined" || state === "draining");
    return {
      nowMs: nowMs + createdCount,
      machines: isMaasDown
        ? { unreadable: "it is down" }
        : new Map(
            slots
              .filter(({ systemId }) => systemId !== undefined)
              .map((slot) => {
                const isInstalled = !["candidate", "allocated", "annotated"].includes(slot.state);
                const status = isInstalled ? ("deployed" as const) : ("allocated" as const);
                return [slot.systemId ?? "", machineFrom(slot, { status })];
              }),
          ),
      api:
        isApiDown || !hasApi
          ? { isReachable: false, why: "it is down", forMs: 90_000 }
          : {
              isReachable: true,
              nodes: new Map(
                nodes.map((slot) => [slot.uid, nodeFrom(slot, { isReady: !unready.has(slot.uid) })]),
              ),
            },
      images: isMaasDown ? undefined : images,
    };
  }

  function pass(check: (plan: SlotPlan) => void): void {
    const plan = planSlots(self.cluster, slots, view(), () => `s${createdCount++}`);
    check(plan);
    const leaves = new Map(plan.leave.map((leave) => [leave.uid, leave]));
    const stay = slots.map((slot) => ({ ...slot, state: leaves.get(slot.uid)?.to ?? slot.state }));
    const come = plan.add.map((slot): SlotRecord => {
      const none = { candidateId: undefined, systemId: undefined, ipAddress: undefined, hostname: undefined };
      const since = { stateSinceMs: nowMs, createdAtMs: nowMs + createdCount++, nextTryAtMs: 0 };
      const text = { message: "", reason: "", attempts: 0, sequence: 0 };
      return { cluster: "prod", clusterUid: "c1", state: "wanted", ...none, ...since, ...text, ...slot };
    });
    slots = [...stay.map((slot) => ({ ...slot, reason: "" })), ...come].filter(isThere);
  }

  function step(isCalm: boolean): void {
    isApiDown = !isCalm && chance() < 0.2;
    isMaasDown = !isCalm && chance() < 0.2;
    if (isCalm) {
      unready.clear();
    }
    for (const { uid } of slots) {
      const slot = slots.find((each) => each.uid === uid);
      const changed = slot === undefined ? undefined : stepped(slot, isCalm);
      slots = slots.map((each) => (each.uid === uid ? (changed ?? each) : each)).filter(isThere);
    }
  }

  function stepped(slot: SlotRecord, isCalm: boolean): SlotRecord {
    if (!isCalm && chance() < 0.3) {
      return slot;
    }
    if (!isCalm && chance() < 0.1) {
      return accident(slot);
    }
    if (slot.state === "wanted") {
      return taken(slot);
    }
    return { ...slot, state: mayGoOn(slot) ? (next[slot.state] ?? slot.state) : slot.state };
  }

  function taken(slot: SlotRecord): SlotRecord {
    const used = slots.filter(
      (each) => each.instanceType === slot.instanceType && each.systemId !== undefined,
    );
    if (isMaasDown) {
      return { ...slot, reason: "MAAS_UNAVAILABLE" };
    }
    return used.length >= (machines.get(slot.instanceType) ?? 0)
      ? { ...slot, reason: "NO_MACHINE" }
      : { ...slot, state: "candidate", systemId: `m-${slot.uid}`, hostname: slot.uid };
  }

  /** Others wait for the first machine, and control-plane machines for each other. */
  function mayGoOn(slot: SlotRecord): boolean {
    const installing = servers().filter(({ state }) => state === "deploying" || state === "booted");
    if (slot.state !== "annotated") {
      return true;
    }
    return slot.pool === undefined
      ? installing.length === 0 && (!self.cluster.hasRun || servers().some(isServing))
      : servers().some(isServing);
  }

  function accident(slot: SlotRecord): SlotRecord {
    if (slot.state === "deploying" || slot.state === "booted") {
      return { ...slot, state: "releasing", reason: "MAAS_FAILED" };
    }
    if (slot.state !== "joined") {
      return slot;
    }
    // Keeps a majority of etcd.
    const members = servers().filter(({ state }) => state === "joined" || state === "draining");
    const others = members.filter((each) => each.uid !== slot.uid && isServing(each));
    if (slot.pool === undefined && others.length * 2 <= members.length) {
      return slot;
    }
    if (chance() < 0.5) {
      return { ...slot, state: "released" };
    }
    unready.has(slot.uid) ? unready.delete(slot.uid) : unready.add(slot.uid);
    return slot;
  }

  function setMachines(instanceType: string, count: number): void {
    machines.set(instanceType, count);
  }

  return self;
}

/** Returns the number of machines of a type in a cluster's spec. */
export function desiredCount(cluster: ClusterRecord, instanceType: string): number {
  return [cluster.controlPlane, ...cluster.pools]
    .filter((group) => group.instanceType === instanceType)
    .reduce((sum, { count }) => sum + count, 0);
}

function isThere({ state }: SlotRecord): boolean {
  return state !== "released";
}

/** Returns the machines of the control plane or of a pool that are not being removed. */
export function liveOf(slots: readonly SlotRecord[], pool: string | undefined): readonly SlotRecord[] {
  return slots.filter((slot) => slot.pool === pool && isLive(slot));
}
