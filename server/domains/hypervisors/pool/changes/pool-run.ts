import { describeSize } from "../../../../../adapters/host/describe-size.ts";
import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import { lvmReasons } from "../../../../../adapters/lvm/reasons.ts";
import type { OperationStep, StepRun } from "../../../../operations/operation-kind.ts";
import type { OwnChanges } from "../events/own-changes.ts";
import type { PlannedPoolChange, StoragePool } from "../storage-pool.ts";

/** Input of an operation that changes the pool's size. */
export type PoolInput = {
  /** `PoolState.identity` of the pool that the request is about. */
  readonly identity: string;
  /** Minimum or maximum change of the size, in bytes; as text, since it may exceed what a number holds. */
  readonly bytes: string;
};

/** Result of an operation that changes the pool's size. */
export type PoolResult = {
  readonly devices: readonly string[];
  readonly bytes: string;
  /** Why libvirt could not refresh its pool; empty if there was no failure. */
  readonly refreshFailure: string;
};

/** What the operations that change the pool's size have in common. */
export const poolKind = { system: "storagePool", runsOn: "host" } as const;

export type PoolRun = StepRun<PoolInput, null>;
export type PoolStep = OperationStep<PoolInput, null>;

/** Dependencies of the pool's operation kinds. */
export interface PoolTools {
  readonly pool: StoragePool;
  readonly changes: OwnChanges;
  /** Has libvirt refresh its pool; undefined if no libvirt pool is on the storage pool. */
  readonly refresh: PoolRefresh | undefined;
}

/** Refresh of the libvirt storage pool that is on the shared one. */
export interface PoolRefresh {
  readonly poolName: string;
  /** libvirt's function with its arguments. */
  readonly command: readonly string[];
  run(): Promise<void>;
}

/** @throws InfraError VOLUME_GROUP_GONE if the plan is for another pool than the request */
export function assertMeant({ identity }: PlannedPoolChange, input: PoolInput, name: string): void {
  if (identity !== input.identity) {
    const words = `${name} has been replaced by another one (${identity}, expected ${input.identity})`;
    throw new InfraError(lvmReasons.VOLUME_GROUP_GONE, words, { resource: "storagePool" });
  }
}

/**
 * Has libvirt refresh its pool. The storage pool has already changed by then, so an error from libvirt is reported, but does
 * not fail the operation.
 */
export function refreshStep<Input, Secrets>({
  refresh,
}: Pick<PoolTools, "refresh">): OperationStep<Input, Secrets> {
  return {
    name: "refresh",
    title: "refreshing libvirt's pool",
    isAbortable: false,
    async forward({ progress }) {
      if (refresh === undefined) {
        return { failure: "" };
      }
      try {
        await refresh.run();
        return { failure: "" };
      } catch (error) {
        const words = error instanceof Error ? error.message : String(error);
        const failure = `libvirt did not refresh its pool ${refresh.poolName}: ${words}; run \`virsh pool-refresh ${refresh.poolName}\``;
        progress({ message: failure });
        return { failure };
      }
    },
  };
}

/** Returns the failure of `refreshStep`; empty if there was none. */
export function refreshFailureOf({ output }: Pick<PoolRun, "output">): string {
  return (output("refresh") as { readonly failure: string } | undefined)?.failure ?? "";
}

/** Describes a result, for example `vg0 has grown by 10 GiB on /dev/sdb`. */
export function describePoolResult(
  pool: string,
  how: string,
  { devices, bytes, refreshFailure }: PoolResult,
): string {
  const words = `${pool} ${describeSize(BigInt(bytes))} ${how} ${devices.join(", ")}`;
  return refreshFailure === "" ? words : `${words}; ${refreshFailure}`;
}
