import { describeSize } from "../../../../adapters/host/describe-size.ts";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { OperationStep, StepRun } from "../../../operations/operation-kind.ts";
import type { OwnChanges } from "./own-changes.ts";
import type { PlannedPoolChange, StoragePool } from "./storage-pool.ts";

/** What a pool's size is to become. */
export type PoolInput = {
  /** The pool that was meant, as `PoolState.identity`. */
  readonly identity: string;
  /** At least, or at most, so many bytes; as text, for they may be more than a number holds. */
  readonly bytes: string;
};

/** What came of it. */
export type PoolResult = {
  readonly devices: readonly string[];
  readonly bytes: string;
  /** Why libvirt has not looked at its pool; empty when it has. */
  readonly refreshFailure: string;
};

export type PoolRun = StepRun<PoolInput, null>;
export type PoolStep = OperationStep<PoolInput, null>;

/** What the kinds of operations on the pool are made of. */
export interface PoolTools {
  readonly pool: StoragePool;
  readonly changes: OwnChanges;
  /** Has libvirt look at its pool again; undefined where none shows the storage pool. */
  readonly refresh: PoolRefresh | undefined;
}

/** A storage pool of libvirt that shows the shared one. */
export interface PoolRefresh {
  readonly poolName: string;
  /** As libvirt's function with its arguments. */
  readonly command: readonly string[];
  run(): Promise<void>;
}

/** @throws InfraError VOLUME_GROUP_GONE when the plan is for another pool than was meant */
export function assertMeant({ identity }: PlannedPoolChange, input: PoolInput, name: string): void {
  if (identity !== input.identity) {
    const words = `${name} is another one now (${identity} instead of ${input.identity})`;
    throw new InfraError("VOLUME_GROUP_GONE", words, { resource: "storagePool" });
  }
}

/**
 * Has libvirt look at its pool again. The storage pool is changed by then, whatever libvirt says: that it could not be asked
 * is told, and no failure.
 */
export function refreshStep<Input, Secrets>({
  refresh,
}: Pick<PoolTools, "refresh">): OperationStep<Input, Secrets> {
  return {
    name: "refresh",
    title: "having libvirt look at its pool",
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
        const failure = `libvirt has not looked at its pool ${refresh.poolName}: ${words}; \`virsh pool-refresh ${refresh.poolName}\` makes it`;
        progress({ message: failure });
        return { failure };
      }
    },
  };
}

/** What `refreshStep` has to say; empty when all is well. */
export function refreshFailureOf({ output }: Pick<PoolRun, "output">): string {
  return (output("refresh") as { readonly failure: string } | undefined)?.failure ?? "";
}

/** What came of it, for people: `vg0 has 10 GiB more, on /dev/sdb`. */
export function describePoolResult(
  pool: string,
  how: string,
  { devices, bytes, refreshFailure }: PoolResult,
): string {
  const words = `${pool} ${describeSize(BigInt(bytes))} ${how} ${devices.join(", ")}`;
  return refreshFailure === "" ? words : `${words}; ${refreshFailure}`;
}
