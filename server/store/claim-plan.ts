import type { OperationRow } from "./operation-row.ts";
import { unknownKindWords } from "./unknown-kind.ts";

/** What of an open operation decides whose turn it is. */
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

/** Who would claim, and what is known of the other gateways. */
export interface Claimant {
  readonly nowMs: number;
  readonly instanceId: string;
  readonly host: string;
  /** Kinds that it knows. */
  readonly kinds: ReadonlySet<string>;
  /** Those of which as many run at once as there are. */
  readonly unlimitedKinds?: ReadonlySet<string>;
  /** What it runs, also if its lease has passed meanwhile. */
  readonly runningIds: ReadonlySet<string>;
  /** Nobody else uses the database: whoever else owns something is dead. */
  readonly isAlone: boolean;
  /** How many of a system may run at once: on one host, or in all where the host does not matter. */
  readonly perSystem: number;
  /** When a gateway of each host was last seen. */
  readonly seenAtMs: ReadonlyMap<string, number>;
  /** How long the gateways of a host may be silent before they count as away. */
  readonly silentMs: number;
}

export interface ClaimPlan {
  /** Whose turn it is; undefined: nobody's. */
  readonly nextId: string | undefined;
  /** Why others wait, where that has changed. */
  readonly waiting: readonly { readonly id: string; readonly waitingFor: string }[];
}

/**
 * Decides which operation a gateway claims next. Those that their gateways have let go come first, from the oldest on;
 * then, of those whose resource is free and whose system has room, one of the caller with the fewest that run, from the
 * oldest on. Operations of one resource begin in their order.
 * @param open every operation that has not ended, from the oldest on
 */
export function planClaim(open: readonly OpenOperation[], claimant: Claimant): ClaimPlan {
  const { nowMs, host, kinds, runningIds } = claimant;
  const running = open.filter(isBegun);
  const runningOf = Map.groupBy(running, placeOf);
  const first = firstOfEachResource(open);
  const orphans: OpenOperation[] = [];
  const runnable: OpenOperation[] = [];
  const waiting: { id: string; waitingFor: string }[] = [];

  function reasonToWait(operation: OpenOperation): string {
    const before = first.get(resourceOf(operation));
    if (before !== undefined && before.id !== operation.id) {
      return `operation ${before.id}, which works on the same, has to end first`;
    }
    const { length } = runningOf.get(placeOf(operation)) ?? [];
    return length >= claimant.perSystem && claimant.unlimitedKinds?.has(operation.kind) !== true
      ? `${length} operations of ${operation.system} run, which is the limit`
      : "";
  }

  for (const operation of open.filter((each) => !isHeld(each, claimant))) {
    if (operation.host !== null && operation.host !== host) {
      const away = reasonAway(operation, operation.host, claimant);
      if (away !== undefined && away !== operation.waiting_for) {
        waiting.push({ id: operation.id, waitingFor: away });
      }
    } else if (!kinds.has(operation.kind)) {
      // Another gateway that knows it would have begun it, or have said why it waits.
      const isLeft = claimant.isAlone || idleSinceMs(operation) < nowMs - claimant.silentMs;
      if (operation.waiting_for === "" && isLeft) {
        waiting.push({ id: operation.id, waitingFor: unknownKindWords(operation.kind) });
      }
    } else if (!runningIds.has(operation.id)) {
      const waitingFor = isBegun(operation) ? "" : reasonToWait(operation);
      if (waitingFor !== operation.waiting_for) {
        waiting.push({ id: operation.id, waitingFor });
      }
      if (waitingFor === "" && operation.not_before <= nowMs) {
        (isBegun(operation) ? orphans : runnable).push(operation);
      }
    }
  }

  const next = orphans[0] ?? leastServed(runnable, runningOf);
  return { nextId: next?.id, waiting: waiting.filter(({ id }) => id !== next?.id) };
}

function isBegun({ state }: OpenOperation): boolean {
  return state !== "scheduled";
}

/** Whether a gateway that may be alive has it. */
function isHeld(operation: OpenOperation, { nowMs, isAlone, instanceId }: Claimant): boolean {
  return isBegun(operation) && operation.lease_until > nowMs && !(isAlone && operation.owner !== instanceId);
}

function idleSinceMs(operation: OpenOperation): number {
  return isBegun(operation) ? operation.lease_until : operation.created_at;
}

/** Where the limit of its system counts. */
function placeOf({ system, host }: OpenOperation): string {
  return JSON.stringify([system, host]);
}

function resourceOf({ host, resource }: OpenOperation): string {
  return JSON.stringify([host, resource]);
}

/** Of each resource the operation that others wait for: one that was begun, else the oldest. */
function firstOfEachResource(open: readonly OpenOperation[]): ReadonlyMap<string, OpenOperation> {
  const first = new Map<string, OpenOperation>();
  for (const operation of open) {
    const key = resourceOf(operation);
    if (!first.has(key) || isBegun(operation)) {
      first.set(key, operation);
    }
  }
  return first;
}

/** Why an operation of another host stands still, when it does because of that host. */
function reasonAway(
  { created_at }: OpenOperation,
  host: string,
  { nowMs, seenAtMs, silentMs }: Claimant,
): string | undefined {
  // Only a gateway of the host can have made it.
  const sinceMs = Math.max(seenAtMs.get(host) ?? 0, created_at);
  return sinceMs < nowMs - silentMs
    ? `the gateway of host ${host} is away since ${new Date(sinceMs).toISOString()}`
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
