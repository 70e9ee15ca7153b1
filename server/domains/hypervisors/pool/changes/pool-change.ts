import type { LongChange } from "../../../../domain/long-change.ts";
import { listOpen } from "../../../../operations/list-open.ts";
import type { PlannedMutation } from "../../../../operations/mutation.ts";
import type { Operation } from "../../../../operations/operation.ts";
import type { OperationKind } from "../../../../operations/operation-kind.ts";
import type { Operations } from "../../../../operations/operations.ts";
import type { PlannedPoolChange } from "../storage-pool.ts";
import type { PoolInput, PoolRefresh } from "./pool-run.ts";

/** A change of the pool's size. */
export interface PoolChange {
  readonly kind: OperationKind<PoolInput>;
  /** @throws InfraError as StoragePool.planExpand or planShrink */
  choose(bytes: bigint, signal: AbortSignal): Promise<PlannedPoolChange>;
  describe(change: PlannedPoolChange): PlannedMutation["plan"];
}

export interface PoolChangeOptions {
  readonly operations: Pick<Operations, "list">;
  readonly host: string;
}

/**
 * Returns the operation of a change of the pool's size, in bytes. A request with the size of an operation in progress joins it:
 * a caller that lost a response and retries does not change the pool twice.
 */
export function createLongPoolChange(
  { operations, host }: PoolChangeOptions,
  { kind, choose, describe }: PoolChange,
  refresh: PoolRefresh | undefined,
): LongChange<bigint, PoolInput> {
  /** Returns the operation in progress with this size. It is not checked again, since the current pool may not allow it. */
  async function running(bytes: string, except: string | undefined): Promise<Operation | undefined> {
    const open = await listOpen(operations, { kind: kind.kind, resource: "storagePool", host, except });
    return open.find(({ input }) => (input as PoolInput).bytes === bytes);
  }

  return {
    kind,
    async check(size, { signal, operation }) {
      const bytes = String(size);
      const joins = await running(bytes, operation?.id);
      if (joins !== undefined) {
        return { joins };
      }
      const change = await choose(size, signal);
      const { identity, steps } = change;
      return {
        resource: "storagePool",
        backend: identity,
        input: { identity, bytes },
        secrets: null,
        attachKey: `${kind.kind} ${host} ${bytes}`,
        plan: describe(change),
        steps: [
          { name: "choose", command: [] },
          ...steps,
          ...(refresh === undefined ? [] : [{ name: "refresh", command: refresh.command }]),
        ],
      };
    },
  };
}
