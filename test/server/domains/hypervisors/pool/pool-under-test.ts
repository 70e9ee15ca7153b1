import { randomBytes } from "node:crypto";
import { create, type DescMethod } from "@bufbuild/protobuf";
import type { Test } from "tap";
import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import type { LvmAdapter } from "../../../../../adapters/lvm/adapter.ts";
import { createLvmSandbox } from "../../../../../adapters/lvm/sandbox.ts";
import {
  BackUpStoragePoolRequestSchema,
  ExpandStoragePoolRequestSchema,
  ShrinkStoragePoolRequestSchema,
  StoragePoolService,
} from "../../../../../gen/hostplane/v1/storage_pool_pb.ts";
import { masterKeysFromText } from "../../../../../server/crypto/master-keys.ts";
import { createSeal } from "../../../../../server/crypto/seal.ts";
import { domainReasons } from "../../../../../server/domain/reasons.ts";
import {
  createPublishedPoolChanges,
  type PublishedPoolChanges,
} from "../../../../../server/domains/hypervisors/pool/changes/published-pool-changes.ts";
import {
  createStoragePoolChanges,
  type StoragePoolChanges,
} from "../../../../../server/domains/hypervisors/pool/changes/storage-pool-changes.ts";
import {
  createSharedPool,
  type SharedPool,
  type SharedPoolOptions,
} from "../../../../../server/domains/hypervisors/pool/shared-pool.ts";
import type { StoragePool } from "../../../../../server/domains/hypervisors/pool/storage-pool.ts";
import { createVolumeGroupPool } from "../../../../../server/domains/hypervisors/pool/volume-group-pool.ts";
import { createEvents } from "../../../../../server/events/events.ts";
import { createOperations } from "../../../../../server/operations/engine/create-operations.ts";
import type { PlannedMutation } from "../../../../../server/operations/mutation.ts";
import type { Operation } from "../../../../../server/operations/operation.ts";
import type { Operations } from "../../../../../server/operations/operations.ts";
import type { OperationsOptions } from "../../../../../server/operations/operations-options.ts";
import type { Call } from "../../../../../server/rpc/call/call.ts";
import { createCall } from "../../../rpc/call/call-under-test.ts";
import { callerOf } from "../../plan/plan-under-test.ts";

export const gib = 1n << 30n;
const mib = 1n << 20n;

export const spares = ["/dev/sandbox/b", "/dev/sandbox/c", "/dev/sandbox/d"];
export const devices = ["/dev/sandbox/a", ...spares, "/dev/sandbox/taken"];

/**
 * Creates the group `pool` on `/dev/sandbox/a` of 10 GiB with a volume of 6 GiB; spares of 10, 20 and 5 GiB, and one that is
 * not empty.
 */
export function createPoolLvm(moveMs = 0): LvmAdapter {
  const device = (letter: string, size: bigint) => ({
    path: `/dev/sandbox/${letter}`,
    sizeBytes: size * gib + mib,
  });
  return createLvmSandbox({
    volumeGroups: [
      {
        name: "pool",
        devices: [device("a", 10n)],
        volumes: [{ name: "data", sizeBytes: 6n * gib, open: true }],
      },
    ],
    spares: [
      device("b", 10n),
      device("c", 20n),
      device("d", 5n),
      { ...device("taken", 50n), obstacle: "it contains ext4" },
    ],
    moveMs,
  });
}

export function createPool(lvm: LvmAdapter): StoragePool {
  return createVolumeGroupPool({ lvm, volumeGroup: "pool", devices, canMove: true });
}

export interface PoolGateway {
  readonly shared: SharedPool;
  readonly changes: StoragePoolChanges;
  readonly published: PublishedPoolChanges;
  /** Begins to expand the pool, or joins an equal request. */
  expand(minBytes: bigint): Promise<Operation>;
  /** Begins to shrink the pool, or joins an equal request. */
  shrink(maxBytes: bigint): Promise<Operation>;
  /** Begins a backup of the pool, or joins the one in progress. */
  beginBackup(): Promise<Operation>;
  planBackUp(): Promise<PlannedMutation>;
  readonly operations: Operations;
  readonly events: Awaited<ReturnType<typeof createEvents>>;
  /** Creates a call by an admin. */
  call(method?: DescMethod, ending?: AbortController): Call;
  close(): Promise<void>;
}

export interface PoolGatewayOptions {
  readonly lvm: LvmAdapter;
  readonly store: OperationsOptions["store"];
  readonly boundary?: OperationsOptions["boundary"];
  readonly shownBy?: SharedPoolOptions["shownBy"];
  /** Replaces the group `pool`. */
  readonly pool?: StoragePool;
  readonly backup?: SharedPoolOptions["backup"];
  readonly host?: string;
  /** Whether the gateway only makes requests and runs no operations. */
  readonly isIdle?: boolean;
}

const masterKeys = masterKeysFromText(randomBytes(32).toString("base64"), "test");

/** Creates the parts of a gateway that handle the pool; closed when the test ends. */
export async function createPoolGateway(t: Test, options: PoolGatewayOptions): Promise<PoolGateway> {
  const { lvm, store, host = "alpha" } = options;
  const events = await createEvents({
    store,
    keepMs: 86_400_000,
    onFailed: (error) => t.comment(String(error)),
  });
  const operations = createOperations({
    store,
    instance: { instanceId: randomBytes(4).toString("hex"), host },
    seal: createSeal(masterKeys, "operations"),
    limits: { perSystem: 4, maxOpen: 100, leaseMs: 20_000, keepMs: 86_400_000 },
    log: { info: () => {}, warn: (message, cause) => t.comment(`${message} ${cause ?? ""}`) },
    firstPauseMs: 5,
    ...(options.boundary === undefined ? {} : { boundary: options.boundary }),
  });
  const shared = createSharedPool({
    pool: options.pool ?? createPool(lvm),
    shownBy: options.shownBy,
    operations,
    host,
    backup: options.backup,
    backupRefusal: () => new InfraError(domainReasons.DOMAIN_OFF, "no backups"),
  });
  if (options.isIdle !== true) {
    operations.begin();
  }
  let isClosed = false;
  async function close(): Promise<void> {
    const isDead = "isDead" in store && store.isDead === true;
    if (!isClosed && !isDead) {
      isClosed = true;
      await operations.close();
      await events.close();
    }
  }
  t.teardown(close);
  const started = new Map<string, Operation>();
  const changes = createStoragePoolChanges(shared, (operation) => {
    started.set(operation.id, operation);
    return { id: operation.id };
  });
  const call = (method = StoragePoolService.method.expandStoragePool, ending = new AbortController()) => {
    const own = createCall({ method, ending });
    own.identify(callerOf("admin"));
    return own;
  };
  const operationOf = async (
    answer: Promise<{ readonly operation?: { readonly id?: string } | undefined }>,
  ) => {
    const operation = started.get((await answer).operation?.id ?? "");
    if (operation === undefined) {
      throw new Error("the change has begun no operation");
    }
    return operation;
  };
  const backUpRequest = create(BackUpStoragePoolRequestSchema);
  return {
    shared,
    changes,
    published: createPublishedPoolChanges(() => shared, { operations, events }),
    expand: (minBytes) =>
      operationOf(
        changes.expandStoragePool.run(create(ExpandStoragePoolRequestSchema, { minBytes }), call()),
      ),
    shrink: (maxBytes) =>
      operationOf(
        changes.shrinkStoragePool.run(create(ShrinkStoragePoolRequestSchema, { maxBytes }), call()),
      ),
    beginBackup: () => operationOf(changes.backUpStoragePool.run(backUpRequest, call())),
    planBackUp: () => changes.backUpStoragePool.plan(backUpRequest, call()),
    operations,
    events,
    call,
    close,
  };
}

/** Returns the paths of the pool's devices, of physical volumes without a group, and of devices closed to new data. */
export async function devicesOf(lvm: LvmAdapter) {
  const { physicalVolumes } = (await lvm.refresh()).value;
  const paths = (group: string | undefined) =>
    physicalVolumes
      .filter((one) => one.volumeGroupName === group)
      .map(({ path }) => path)
      .toSorted();
  return {
    pool: paths("pool"),
    marked: paths(undefined),
    closed: physicalVolumes.filter(({ allocatable }) => !allocatable).map(({ path }) => path),
  };
}
