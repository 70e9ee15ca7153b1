import { type InfraError, invalidField } from "../../../../adapters/host/infra-error.ts";
import type { LibvirtAdapter } from "../../../../adapters/libvirt/adapter.ts";
import type {
  ExpandStorageRequest,
  ShrinkStorageRequest,
} from "../../../../gen/operations/v1/operations_pb.ts";
import type { Events } from "../../../events/events.ts";
import type { PlannedMutation } from "../../../operations/mutation.ts";
import type { Json, Operation } from "../../../operations/operation.ts";
import { type OperationViewMessage, operationView } from "../../../operations/operation-view.ts";
import type { Operations } from "../../../operations/operations.ts";
import type { Call } from "../../../rpc/call/call.ts";
import { requesterFrom } from "../../../rpc/call/requester.ts";
import { describePoolBackup, type PoolBackupResult } from "./backups/backup-run.ts";
import { createPoolBackups, type PoolBackups, type PoolBackupsOptions } from "./backups/pool-backups.ts";
import { createBeginPoolChange } from "./begin-pool-change.ts";
import { createExpandKind, expandKindName } from "./expand-kind.ts";
import { createOwnChanges, type OwnChanges } from "./own-changes.ts";
import { planOfExpansion, planOfShrinkage } from "./pool-plans.ts";
import { describePoolResult, type PoolRefresh, type PoolResult } from "./pool-run.ts";
import { createShrinkKind, shrinkKindName } from "./shrink-kind.ts";
import type { StoragePool } from "./storage-pool.ts";

export interface SharedPoolOptions {
  readonly pool: StoragePool;
  /** libvirt and its storage pool on the shared one; undefined if there is none. */
  readonly shownBy:
    | { readonly libvirt: Pick<LibvirtAdapter, "run" | "commandOf">; readonly libvirtPool: string }
    | undefined;
  readonly operations: Operations;
  readonly events: Pick<Events, "follow" | "headSeq">;
  /** Name of this host. */
  readonly host: string;
  /** Options for backups of the pool; undefined if they are not configured. */
  readonly backup: Omit<PoolBackupsOptions, "pool" | "refresh" | "operations" | "host"> | undefined;
  /** Error for calls that need backups when these are not configured. */
  readonly backupRefusal: () => InfraError;
}

/**
 * The storage pool that hypervisors share, with the operations that change its size. The published service shows the same
 * operations as streams (`expandFromPublished`, `shrinkFromPublished`).
 */
export interface SharedPool {
  readonly pool: StoragePool;
  /** This gateway's own changes of the pool. */
  readonly changes: OwnChanges;
  /**
   * Begins to expand the pool, or returns the operation in progress that an equal request began.
   * @throws InfraError INVALID_FIELD, POOL_CANNOT_GROW, POOL_FIXED, BUSY, and what reading the pool throws
   */
  expand(minBytes: bigint, call: Call): Promise<Operation>;
  /** Begins to shrink the pool, like `expand`. @throws InfraError INVALID_FIELD, POOL_CANNOT_SHRINK, POOL_FIXED, BUSY */
  shrink(maxBytes: bigint, call: Call): Promise<Operation>;
  /** Returns what `expand` would do. @throws as `expand` */
  planExpand(minBytes: bigint, signal: AbortSignal): Promise<PlannedMutation>;
  /** Returns what `shrink` would do. @throws as `shrink` */
  planShrink(maxBytes: bigint, signal: AbortSignal): Promise<PlannedMutation>;
  /** ExpandStorage: throws before the first message, or reports progress and failure as messages until the end. */
  expandFromPublished(request: ExpandStorageRequest, call: Call): AsyncGenerator<OperationViewMessage, void>;
  /** ShrinkStorage, like `expandFromPublished`. */
  shrinkFromPublished(request: ShrinkStorageRequest, call: Call): AsyncGenerator<OperationViewMessage, void>;
  /** Returns what ExpandStorage would do. @throws as `expandFromPublished` */
  planExpandFromPublished(request: ExpandStorageRequest, signal: AbortSignal): Promise<PlannedMutation>;
  /** Returns what ShrinkStorage would do. @throws as `shrinkFromPublished` */
  planShrinkFromPublished(request: ShrinkStorageRequest, signal: AbortSignal): Promise<PlannedMutation>;

  /** Undefined if backups are not configured. */
  readonly backups: PoolBackups | undefined;
  /**
   * Begins to back up all volumes, or returns the operation that already does.
   * @throws InfraError DOMAIN_OFF, and as `PoolBackups.begin`
   */
  backUp(call: Call): Promise<Operation>;
  /** The published CreateBackup: throws before the first message, or reports progress and failure as messages until the end. */
  backUpFromPublished(call: Call): AsyncGenerator<OperationViewMessage, void>;
  /** Returns what `backUp` and `backUpFromPublished` would do. @throws as `backUp` */
  planBackUp(signal: AbortSignal): Promise<PlannedMutation>;
}

/** Creates the shared pool and registers its operation kinds; must run before `operations.begin`. */
export function createSharedPool(options: SharedPoolOptions): SharedPool {
  const { pool, operations, events } = options;
  const changes = createOwnChanges(pool);
  const refresh = refreshOf(options);
  const tools = { pool, changes, refresh };
  const expand = createBeginPoolChange(options, {
    kind: expandKindName,
    starter: operations.register(createExpandKind(tools)),
    plan: pool.planExpand,
  });
  const shrink = createBeginPoolChange(options, {
    kind: shrinkKindName,
    starter: operations.register(createShrinkKind(tools)),
    plan: pool.planShrink,
  });
  const { host, backup, backupRefusal } = options;
  const backups = backup && createPoolBackups({ ...backup, pool, refresh, operations, host });
  const assertBackups = () => {
    if (backups === undefined) {
      throw backupRefusal();
    }
    return backups;
  };
  const view = <Result extends Json>(
    call: Call,
    start: Parameters<typeof operationView>[2],
    describeResult: (result: Result) => string,
  ) => {
    call.noteResource("storagePool");
    // Called only for completed operations, which have a result.
    const describe = ({ result }: Operation) => describeResult(result as Result);
    return operationView({ operations, events }, call, start, describe);
  };
  const planExpand = async (minBytes: bigint, signal: AbortSignal) =>
    planOfExpansion(pool, await pool.planExpand(minBytes, signal), refresh);
  const planShrink = async (maxBytes: bigint, signal: AbortSignal) =>
    planOfShrinkage(pool, await pool.planShrink(maxBytes, signal), refresh);

  return {
    pool,
    changes,
    expand: async (minBytes, call) => (await expand(assertBytes(minBytes, "min_bytes"), call)).operation,
    shrink: async (maxBytes, call) => (await shrink(assertBytes(maxBytes, "max_bytes"), call)).operation,
    planExpand: async (minBytes, signal) => planExpand(assertBytes(minBytes, "min_bytes"), signal),
    planShrink: async (maxBytes, signal) => planShrink(assertBytes(maxBytes, "max_bytes"), signal),
    expandFromPublished: ({ minBytes }, call) =>
      view(
        call,
        async () => expand(publishedBytes(minBytes, "min_bytes"), call),
        (result: PoolResult) => describePoolResult(`${pool.name} has grown by`, "on", result),
      ),
    shrinkFromPublished: ({ maxBytes }, call) =>
      view(
        call,
        async () => shrink(publishedBytes(maxBytes, "max_bytes"), call),
        (result: PoolResult) =>
          describePoolResult(`${pool.name} has shrunk by`, "after the removal of", result),
      ),
    planExpandFromPublished: async ({ minBytes }, signal) =>
      planExpand(publishedBytes(minBytes, "min_bytes"), signal),
    planShrinkFromPublished: async ({ maxBytes }, signal) =>
      planShrink(publishedBytes(maxBytes, "max_bytes"), signal),

    backups,
    backUp: async (call) => (await assertBackups().begin(requesterFrom(call))).operation,
    backUpFromPublished: (call) =>
      view(
        call,
        async () => assertBackups().begin(requesterFrom(call)),
        (result: PoolBackupResult) => describePoolBackup(pool.name, result),
      ),
    planBackUp: async (signal) => assertBackups().plan(signal),
  };
}

function refreshOf({ shownBy }: SharedPoolOptions): PoolRefresh | undefined {
  if (shownBy === undefined) {
    return undefined;
  }
  const { libvirt, libvirtPool } = shownBy;
  const step = { kind: "refreshPool", pool: libvirtPool } as const;
  return { poolName: libvirtPool, command: libvirt.commandOf(step), run: () => libvirt.run(step) };
}

const largestBytes = (1n << 63n) - 1n;

/** @throws InfraError INVALID_FIELD */
function assertBytes(bytes: bigint, field: string): bigint {
  if (bytes < 1n) {
    throw invalidField(field, `must be from 1 to ${largestBytes} bytes, is ${bytes}`);
  }
  return bytes;
}

/** Validates a 32-bit field, whose decoder has already rejected larger values. @throws InfraError INVALID_FIELD */
function publishedBytes(bytes: number, field: string): bigint {
  if (bytes < 1) {
    const words = `must be from 1 to 2147483647 bytes, is ${bytes}; for more, use hostplane.v1.StoragePoolService`;
    throw invalidField(field, words);
  }
  return BigInt(bytes);
}
