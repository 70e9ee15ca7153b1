import type { TransactionContext } from "../../store/transaction.ts";
import type { PlannedMutation } from "../mutation.ts";
import type { Operation } from "../operation.ts";
import { type Claimant, type ClaimPlan, type OpenOperation, planClaim } from "./claim-plan.ts";
import { type OperationRow, publishOperations, stepsOf } from "./rows.ts";

/** The gateway that looks for operations to run. */
export interface ClaimArgs {
  readonly instanceId: string;
  readonly host: string;
  /** Operation kinds that it supports, with the names of their steps. */
  readonly kinds: readonly { readonly kind: string; readonly steps: readonly string[] }[];
  /** Kinds that the limit `perSystem` does not apply to. */
  readonly unlimitedKinds: readonly string[];
  readonly runningIds: readonly string[];
  readonly isAlone: boolean;
  readonly perSystem: number;
  readonly leaseMs: number;
}

/** A lease, as identified by its owner. */
export interface HeldLease {
  readonly id: string;
  readonly fence: number;
}

/** Number of leases that a host's gateways may be silent for before they count as away. */
const silentLeases = 3;

export const operationClaimTransactions = {
  /**
   * Reports whether a claim would do anything now, and which of the running operations were asked to stop. It does not write,
   * so that gateways can poll in parallel.
   */
  async "operations.poll"(context: TransactionContext, args: ClaimArgs) {
    const { nextId, waiting } = await planOf(context, args);
    return {
      isDue: nextId !== undefined || waiting.length > 0,
      cancelledIds: await cancelledOf(context, args.runningIds),
    };
  },

  /** Claims the next operation, and records why others wait. */
  async "operations.claim"(context: TransactionContext, args: ClaimArgs) {
    const { db, nowMs } = context;
    const { nextId, waiting } = await planOf(context, args);
    const changed: OperationRow[] = [];
    for (const { id, waitingFor } of waiting) {
      changed.push(
        await db
          .updateTable("operations")
          .set({ waiting_for: waitingFor })
          .where("id", "=", id)
          .returningAll()
          .executeTakeFirstOrThrow(),
      );
    }
    if (nextId === undefined) {
      await publishOperations(context, changed);
      return undefined;
    }
    const before = await addMissingSteps(context, nextId, args);
    const isUndoing = before.state === "undoing" || (await hasStepToUndo(context, nextId));
    const claimed = await db
      .updateTable("operations")
      .set({
        state: isUndoing ? "undoing" : "active",
        owner: args.instanceId,
        fence: before.fence + 1,
        lease_until: nowMs + args.leaseMs,
        attempt: before.attempt + 1,
        started_at: before.started_at ?? nowMs,
        waiting_for: "",
      })
      .where("id", "=", nextId)
      .returningAll()
      .executeTakeFirstOrThrow();
    const operations = await publishOperations(context, [...changed, claimed]);
    return {
      operation: operations.at(-1) as Operation,
      fence: claimed.fence,
      isPastReturn: claimed.past_return === 1,
      secretsSealed: claimed.secrets_sealed === null ? undefined : new Uint8Array(claimed.secrets_sealed),
      outputs: await outputsOf(context, nextId),
      plan:
        claimed.plan_id === null || claimed.plan_json === null
          ? undefined
          : { id: claimed.plan_id, mutation: JSON.parse(claimed.plan_json) as PlannedMutation },
    };
  },

  /**
   * Records that the gateway is alive, and extends its leases. Returns the operations that it no longer owns, and those that
   * were asked to stop.
   */
  async "operations.renew"(
    { db, nowMs }: TransactionContext,
    args: { instanceId: string; host: string; leases: readonly HeldLease[]; leaseMs: number },
  ) {
    const { instanceId, host, leases, leaseMs } = args;
    await db
      .insertInto("gateways")
      .values({ instance_id: instanceId, host, seen_at: nowMs })
      .onConflict((conflict) => conflict.column("instance_id").doUpdateSet({ host, seen_at: nowMs }))
      .execute();
    const lostIds: string[] = [];
    const cancelledIds: string[] = [];
    for (const { id, fence } of leases) {
      const kept = await db
        .updateTable("operations")
        .set({ lease_until: nowMs + leaseMs })
        .where("id", "=", id)
        .where("owner", "=", instanceId)
        .where("fence", "=", fence)
        .returning("cancel_requested")
        .executeTakeFirst();
      if (kept === undefined) {
        lostIds.push(id);
      } else if (kept.cancel_requested === 1) {
        cancelledIds.push(id);
      }
    }
    return { lostIds, cancelledIds };
  },

  /** Releases an operation that has not ended, so that it can be claimed immediately. */
  async "operations.release"(
    { db, notify }: TransactionContext,
    { id, owner, fence }: HeldLease & { owner: string },
  ) {
    await db
      .updateTable("operations")
      .set({ lease_until: 0 })
      .where("id", "=", id)
      .where("owner", "=", owner)
      .where("fence", "=", fence)
      .execute();
    notify("operations");
  },
};

async function planOf({ db, nowMs }: TransactionContext, args: ClaimArgs): Promise<ClaimPlan> {
  const open: OpenOperation[] = await db
    .selectFrom("operations")
    .select(["id", "kind", "resource", "system", "host", "actor", "account_id", "state", "waiting_for"])
    .select(["owner", "lease_until", "not_before", "created_at"])
    .where("ended_at", "is", null)
    .orderBy("seq")
    .execute();
  if (open.length === 0) {
    return { nextId: undefined, waiting: [] };
  }
  const seen = await db
    .selectFrom("gateways")
    .select(({ fn }) => ["host", fn.max("seen_at").as("seen_at")])
    .groupBy("host")
    .execute();
  const claimant: Claimant = {
    ...args,
    nowMs,
    kinds: new Set(args.kinds.map(({ kind }) => kind)),
    unlimitedKinds: new Set(args.unlimitedKinds),
    runningIds: new Set(args.runningIds),
    seenAtMs: new Map(seen.map(({ host, seen_at }) => [host, Number(seen_at)])),
    silentMs: silentLeases * args.leaseMs,
  };
  return planClaim(open, claimant);
}

async function cancelledOf({ db }: TransactionContext, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) {
    return [];
  }
  const rows = await db
    .selectFrom("operations")
    .select("id")
    .where("id", "in", ids)
    .where("cancel_requested", "=", 1)
    .execute();
  return rows.map(({ id }) => id);
}

/** Adds steps that this version of the kind has, and the version that created the operation did not have. */
async function addMissingSteps(
  context: TransactionContext,
  id: string,
  { kinds }: ClaimArgs,
): Promise<OperationRow> {
  const { db } = context;
  const row = await db.selectFrom("operations").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
  const steps = await stepsOf(context, id);
  const names = kinds.find(({ kind }) => kind === row.kind)?.steps ?? [];
  const missing = names.filter((name) => !steps.some((step) => step.name === name));
  await insertSteps(context, id, missing, (steps.at(-1)?.position ?? -1) + 1);
  return row;
}

/** Inserts steps that have not begun. */
export async function insertSteps(
  { db }: TransactionContext,
  id: string,
  names: readonly string[],
  position: number,
): Promise<void> {
  if (names.length > 0) {
    await db
      .insertInto("operation_steps")
      .values(
        names.map((name, index) => ({
          operation_id: id,
          position: position + index,
          name,
          state: "pending",
          attempt: 0,
        })),
      )
      .execute();
  }
}

/** Reports whether undoing the operation has begun and must continue. */
async function hasStepToUndo({ db }: TransactionContext, id: string): Promise<boolean> {
  const step = await db
    .selectFrom("operation_steps")
    .select("name")
    .where("operation_id", "=", id)
    .where("state", "=", "undoing")
    .executeTakeFirst();
  return step !== undefined;
}

async function outputsOf({ db }: TransactionContext, id: string): Promise<Record<string, string>> {
  const rows = await db
    .selectFrom("operation_steps")
    .select(["name", "output_json"])
    .where("operation_id", "=", id)
    .execute();
  return Object.fromEntries(
    rows.flatMap(({ name, output_json }) => (output_json === null ? [] : [[name, output_json]])),
  );
}
