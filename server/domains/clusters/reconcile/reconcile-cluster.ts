import { randomUUID } from "node:crypto";
import { hasReason, InfraError } from "../../../../adapters/host/infra-error.ts";
import { createLimiter } from "../../../../adapters/host/limiter.ts";
import { hostReasons } from "../../../../adapters/host/reasons.ts";
import type { ClaimedCluster, PassResult } from "../../../store/cluster-passes.ts";
import type { SlotRecord } from "../../../store/cluster-records.ts";
import { storeReasons } from "../../../store/reasons.ts";
import { keepEndpoint, releaseEndpoint } from "./endpoint-address.ts";
import { createPass, type Pass } from "./pass.ts";
import type { PassLease } from "./pass-lease.ts";
import { createPassSecrets } from "./pass-secrets.ts";
import { clusterStatusOf } from "./plan/cluster-status.ts";
import { planSlots } from "./plan/plan-slots.ts";
import { readView } from "./read-view.ts";
import type { ReconcileTools } from "./reconcile-tools.ts";
import { createSlotBook } from "./slot-book.ts";
import { restMs, stepSlot } from "./step-slot.ts";

/** Result of a pass; `gone` when the cluster no longer exists. */
export type PassEnd = Omit<PassResult, "fenced"> | "gone";

const slotsAtOnce = 8;
const maxWaiting = Number.MAX_SAFE_INTEGER;

/**
 * Runs a pass over a cluster: reads the state, plans, and advances every machine as far as possible without waiting.
 * @param closing aborted when the gateway stops: calls in progress finish, and no further ones are started
 * @throws InfraError OPERATION_IN_PROGRESS when another gateway has the cluster by now, SHUTTING_DOWN; and as the store does
 */
export async function reconcileCluster(
  tools: ReconcileTools,
  claimed: ClaimedCluster,
  sinceMs: number,
  lease: PassLease,
  closing: AbortSignal,
): Promise<PassEnd> {
  const { cluster, fence, secretsSealed } = claimed;
  const { store, instanceId, boundary } = tools;
  const fenced = { name: cluster.name, uid: cluster.uid, owner: instanceId, fence };
  const nowMs = () => Math.round(claimed.nowMs + performance.now() - sinceMs);
  const secrets = createPassSecrets(tools, cluster, secretsSealed);
  const slots = createSlotBook(store, fenced, claimed.slots, lease, boundary);

  function assertGoesOn(): void {
    lease.assertHeld();
    if (closing.aborted) {
      throw new InfraError(
        hostReasons.SHUTTING_DOWN,
        "the gateway is stopping; the cluster is reconciled later",
      );
    }
  }

  if (!cluster.isDeleting) {
    await renewAdmin(tools, cluster.name, secrets.renewAdmin);
  }
  const view = await readView(tools, cluster, claimed.slots, secrets, nowMs());
  const pass = createPass({ tools, cluster, slots, lease, view, secrets, fenced, nowMs, keepEndpoint });
  assertGoesOn();
  await carryOutPlan(pass);
  await stepAll(pass, assertGoesOn);
  assertGoesOn();
  if (cluster.isDeleting && slots.all().length === 0) {
    return removeCluster(pass, fenced);
  }
  return endOf(pass);
}

/**
 * If the renewal fails, the old certificate is used while it is valid. If the secrets cannot be opened at all, the cluster's
 * status reports it.
 */
async function renewAdmin({ log }: ReconcileTools, name: string, renew: () => Promise<void>): Promise<void> {
  try {
    await renew();
  } catch (error) {
    if (!hasReason(error, storeReasons.MASTER_KEY_MISMATCH)) {
      log.warn(`cluster ${name}: its administrator's certificate cannot be renewed`, error);
    }
  }
}

async function carryOutPlan({ cluster, slots, view, tools }: Pass): Promise<void> {
  const { add, leave } = planSlots(cluster, slots.all(), view, randomUUID);
  if (add.length > 0 || leave.length > 0) {
    const changes = leave.map(({ uid, from, to, message }) => ({
      uid,
      from,
      state: to,
      message,
      reason: "",
      attempts: 0,
      // An earlier call to MAAS may still take effect; a machine allocated or installed after the check would have no owner.
      nextTryInMs: from === "candidate" || from === "deploying" ? tools.settings.pollMs : 0,
      history: { message },
    }));
    await slots.writeAll(add, changes);
  }
}

/** Steps every slot, even if one fails. The first failure is thrown once all have ended. */
async function stepAll(pass: Pass, assertGoesOn: () => void): Promise<void> {
  const turns = createLimiter({ what: "machines of a cluster", maxRunning: slotsAtOnce, maxWaiting });
  const ended = await Promise.allSettled(
    pass.slots.all().map(({ uid }) => turns.run(() => stepSlot(pass, uid, assertGoesOn))),
  );
  const failure = ended.find(({ status }) => status === "rejected");
  if (failure?.status === "rejected") {
    throw failure.reason;
  }
}

async function removeCluster(pass: Pass, fenced: PassResult["fenced"]): Promise<PassEnd> {
  const { tools, cluster } = pass;
  try {
    await releaseEndpoint(pass);
  } catch (error) {
    if (!(error instanceof InfraError) || !pass.lease.isHeld()) {
      throw error;
    }
    const message = `Its machines are released, but not its address ${cluster.endpoint}: ${error.message}`;
    return { status: "stopping", message: message.slice(0, 500), dueInMs: tools.settings.pollMs };
  }
  const { ok } = await pass.change("forget", () => tools.store.run("clusters.forget", { fenced }));
  if (!ok) {
    pass.lease.lose();
    pass.lease.assertHeld();
  }
  tools.connections.drop(cluster.uid);
  return "gone";
}

function endOf(pass: Pass): PassEnd {
  const { cluster, slots, view, tools } = pass;
  const all = slots.all();
  const { status, message, isSettled, isCalm } = clusterStatusOf(cluster, all, view);
  return {
    status,
    message,
    ...(isSettled && !cluster.hasRun && { hasRun: true as const }),
    ...(isSettled && { settledGeneration: cluster.generation }),
    dueInMs: dueInMs(all, pass, isCalm ? tools.settings.watchMs : tools.settings.pollMs),
  };
}

/**
 * Returns soon if a slot has changed, since others may have waited for it; but never at once, so that it cannot loop without
 * pause.
 */
function dueInMs(slots: readonly SlotRecord[], pass: Pass, usualMs: number): number {
  const leastMs = pass.tools.settings.pollMs / 50;
  if (pass.slots.hasMoved || pass.isLong()) {
    return Math.ceil(leastMs);
  }
  const tries = slots.map((slot) => restMs(slot, pass.nowMs())).filter((ms) => ms > 0);
  return Math.ceil(Math.max(leastMs, Math.min(usualMs, ...tries)));
}
