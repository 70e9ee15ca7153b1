import { listOpen } from "../../../operations/list-open.ts";
import type { Operation } from "../../../operations/operation.ts";
import type { OperationStarter, Operations } from "../../../operations/operations.ts";
import type { Call } from "../../../rpc/call/call.ts";
import { methodPathOf } from "../../../rpc/call/method-rule.ts";
import type { PoolInput } from "./pool-run.ts";
import type { PlannedPoolChange } from "./storage-pool.ts";

export interface PoolChangeKind {
  readonly kind: string;
  readonly starter: OperationStarter<PoolInput, null>;
  readonly plan: (bytes: bigint, signal: AbortSignal) => Promise<PlannedPoolChange>;
}

export interface BeginPoolChangeOptions {
  readonly operations: Pick<Operations, "list">;
  readonly host: string;
}

/**
 * Begins an operation that changes the pool's size, or joins the one in progress with the same size: a caller that lost a
 * response and retries does not change the pool twice.
 * @throws InfraError as `plan`, BUSY, STORE_UNAVAILABLE
 */
export type BeginPoolChange = (
  bytes: bigint,
  call: Call,
) => Promise<{ readonly operation: Operation; readonly isNew: boolean }>;

export function createBeginPoolChange(
  { operations, host }: BeginPoolChangeOptions,
  { kind, starter, plan }: PoolChangeKind,
): BeginPoolChange {
  /** Returns the pool of an open operation with this size. It is not planned again, since the current pool may not allow it. */
  async function identityOfOpen(bytes: string): Promise<string | undefined> {
    const all = await listOpen(operations, { kind, resource: "storagePool", host });
    return all.map(({ input }) => input as PoolInput).find((input) => input.bytes === bytes)?.identity;
  }

  return async (bytes, call) => {
    call.noteResource("storagePool");
    const { caller, method, signal } = call;
    const open = await identityOfOpen(String(bytes));
    const identity = open ?? (await plan(bytes, signal)).identity;
    const begun = await starter.start({
      resource: "storagePool",
      backend: identity,
      input: { identity, bytes: String(bytes) },
      secrets: null,
      asker: { actor: caller.actor, accountId: caller.accountId, rpc: methodPathOf(method) },
      attachKey: `${kind} ${host} ${bytes}`,
    });
    call.noteOperation(begun.operation.id);
    return begun;
  };
}
