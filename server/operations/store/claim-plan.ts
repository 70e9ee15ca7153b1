import type { OperationRow } from "./rows.ts";
import { unknownKindWords } from "./unknown-kind.ts";

/** The fields of an open operation that decide when it runs. */
export type OpenOperation = Pick<
  OperationRow,
  | "id"
  | "kind"
  | "resource"
  | "system"
  | "host"
  | "actor"
  | "account_id"
  | "state"
  | "waiting_for"
  | "owner"
  | "lease_until"
  | "not_before"
  | "created_at"
>;

/** The gateway that claims, and what it knows of other gateways. */
export interface Claimant {
  readonly nowMs: number;
  readonly instanceId: string;
  readonly host: string;
  /** Operation kinds that this gateway supports. */
  readonly kinds: ReadonlySet<string>;
  /** Kinds that the limit `perSystem` does not apply to. */
  readonly unlimitedKinds?: ReadonlySet<string>;
  /** Operations that it is running, including those with an expired lease. */
  readonly runningIds: ReadonlySet<string>;
  /** True when no other gateway uses the database, so that any other owner is stale. */
  readonly isAlone: boolean;
  /** Maximum number of running operations of a system: per host, or in total where the operations are not bound to a host. */
  readonly perSystem: number;
  /** When a gateway was last seen, by host. */
  readonly seenAtMs: ReadonlyMap<string, number>;
  /** How long the gateways of a host may be silent before they count as away. */
  readonly silentMs: number;
}

export interface ClaimPlan {
  /** The operation to claim; undefined: none. */
  readonly nextId: string | undefined;
  /** Operations whose reason for waiting has changed. */
  readonly waiting: readonly { readonly id: string; readonly waitingFor: string }[];
}

/**
 * Decides which operation a gateway claims next. Orphans, begun operations without a live owner, come first, oldest first.
 * Then come operations whose resource is free and whose system is below its limit: from the caller with the fewest running
 * operations, oldest first. Operations on one resource begin in the order of their creation.
 * @param open every operation that has not ended, oldest first
 */
export function planClaim(open: readonly OpenOperation[], claimant: Claimant): ClaimPlan {
  const { nowMs, host, kinds, runningIds } = claimant;
  const running = open.filter(isStarted);
  const runningOf = Map.groupBy(running, placeOf);
  const first = firstOfEachResource(open);
  const orphans: OpenOperation[] = [];
  const runnable: OpenOperation[] = [];
  const waiting: { id: string; waitingFor: string }[] = [];

  function reasonToWait(operation: OpenOperation): string {
    const before = first.get(resourceOf(operation));
    if (before !== undefined && before.id !== operation.id) {
      return `operation ${before.id} on the same resource must end first`;
    }
    const { length } = runningOf.get(placeOf(operation)) ?? [];
    return length >= claimant.perSystem && claimant.unlimitedKinds?.has(operation.kind) !== true
      ? `${operation.system} already runs ${length} ${length === 1 ? "operation" : "operations"}, which is its limit`
      : "";
  }

  for (const operation of open.filter((each) => !isHeld(each, claimant))) {
    if (operation.host !== null && operation.host !== host) {
      const away = reasonAway(operation, operation.host, claimant);
      if (away !== undefined && away !== operation.waiting_for) {
        waiting.push({ id: operation.id, waitingFor: away });
      }
    } else if (!kinds.has(operation.kind)) {
      // A gateway that supports the kind would have begun the operation or recorded why it waits.
      const isLeft = claimant.isAlone || idleSinceMs(operation) < nowMs - claimant.silentMs;
      if (operation.waiting_for === "" && isLeft) {
        waiting.push({ id: operation.id, waitingFor: unknownKindWords(operation.kind) });
      }
    } else if (!runningIds.has(operation.id)) {
      const waitingFor = isStarted(operation) ? "" : reasonToWait(operation);
      if (waitingFor !== operation.waiting_for) {
        waiting.push({ id: operation.id, waitingFor });
      }
      if (waitingFor === "" && operation.not_before <= nowMs) {
        (isStarted(operation) ? orphans : runnable).push(operation);
      }
    }
  }

  const next = orphans[0] ?? leastServed(runnable, runningOf);
  return { nextId: next?.id, waiting: waiting.filter(({ id }) => id !== next?.id) };
}

function isStarted({ state }: OpenOperation): boolean {
  return state !== "scheduled";
}

/** Reports whether an operation belongs to a gateway that may still be running. */
function isHeld(operation: OpenOperation, { nowMs, isAlone, instanceId }: Claimant): boolean {
  return (
    isStarted(operation) && operation.lease_until > nowMs && !(isAlone && operation.owner !== instanceId)
  );
}

function idleSinceMs(operation: OpenOperation): number {
  return isStarted(operation) ? operation.lease_until : operation.created_at;
}

/** Returns the key that the limit per system applies to. */
function placeOf({ system, host }: OpenOperation): string {
  return JSON.stringify([system, host]);
}

function resourceOf({ host, resource }: OpenOperation): string {
  return JSON.stringify([host, resource]);
}

/** Returns, for each resource, the operation that others wait for: the one that has begun, else the oldest. */
function firstOfEachResource(open: readonly OpenOperation[]): ReadonlyMap<string, OpenOperation> {
  const first = new Map<string, OpenOperation>();
  for (const operation of open) {
    const key = resourceOf(operation);
    if (!first.has(key) || isStarted(operation)) {
      first.set(key, operation);
    }
  }
  return first;
}

/** Returns a reason if an operation of another host waits because that host's gateway is not running. */
function reasonAway(
  { created_at }: OpenOperation,
  host: string,
  { nowMs, seenAtMs, silentMs }: Claimant,
): string | undefined {
  // Only a gateway of that host can have created it.
  const sinceMs = Math.max(seenAtMs.get(host) ?? 0, created_at);
  return sinceMs < nowMs - silentMs
    ? `no gateway of host ${host} has been running since ${new Date(sinceMs).toISOString()}`
    : undefined;
}

function leastServed(
  runnable: readonly OpenOperation[],
  runningOf: ReadonlyMap<string, readonly OpenOperation[]>,
): OpenOperation | undefined {
  let least: { operation: OpenOperation; running: number } | undefined;
  for (const operation of runnable) {
    const caller = callerOf(operation);
    const running = (runningOf.get(placeOf(operation)) ?? []).filter((other) => callerOf(other) === caller);
    if (least === undefined || running.length < least.running) {
      least = { operation, running: running.length };
    }
  }
  return least?.operation;
}

function callerOf({ account_id, actor }: OpenOperation): string {
  return account_id === "" ? `actor ${actor}` : `account ${account_id}`;
}
