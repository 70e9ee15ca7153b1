import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { type Client, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.ts";
import { type Operation, OperationService, OperationState } from "../../../gen/hostplane/v1/operation_pb.ts";
import { StoragePoolService } from "../../../gen/hostplane/v1/storage_pool_pb.ts";
import {
  OperationsService,
  OperationState as PublishedState,
} from "../../../gen/operations/v1/operations_pb.ts";
import { type GatewayProcess, startGatewayProcess } from "../gateway-process.ts";

const mib = 1n << 20n;

/** /dev/vdb of 600 MiB is the pool; spares are /dev/vdc of 1 GiB, /dev/vdd of 600 MiB, and /dev/vde with a file system. */
const devices = [1, 2, 3, 4].map((number) => `/dev/disk/by-id/virtio-disk${number}`);
const [first, second, third, taken] = devices;

interface Clients {
  readonly gateway: GatewayProcess;
  readonly pool: Client<typeof StoragePoolService>;
  readonly published: Client<typeof OperationsService>;
  readonly operations: Client<typeof OperationService>;
}

async function type(command: string): Promise<string> {
  return (await promisify(execFile)("sh", ["-ec", command])).stdout;
}

async function reasonOf(call: Promise<unknown>): Promise<string | undefined> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => ConnectError.from(thrown),
  );
  return error?.findDetails(ErrorInfoSchema)[0]?.reason;
}

/** Sets the kernel's copy speed for pvmove, in percent of its time. */
async function setCopySpeed(percent: number): Promise<void> {
  await type(`modprobe dm_mirror; echo ${percent} >/sys/module/dm_mirror/parameters/raid1_resync_throttle`);
}

/**
 * A pool with data in use grows by a spare device and then releases the device with the data, while the gateway and pvmove are
 * killed.
 * @throws AssertionError
 */
async function checkStoragePool(): Promise<object> {
  const folder = mkdtempSync(join(tmpdir(), "hostplane-pool-"));
  const start = async (): Promise<Clients> => {
    const hypervisors = { pool: { volumeGroup: "pool", devices } };
    const gateway = await startGatewayProcess(join(folder, "hostplane.yaml"), undefined, { hypervisors });
    const transport = createGrpcTransport({ baseUrl: gateway.url });
    return {
      gateway,
      pool: createClient(StoragePoolService, transport),
      published: createClient(OperationsService, transport),
      operations: createClient(OperationService, transport),
    };
  };
  const sums = () => type(`sha256sum /dev/pool/raw ${folder}/mnt/file`);
  await type(`vgcreate -q pool /dev/vdb; lvcreate -q -y -n raw -L 150m pool; lvcreate -q -y -n files -L 150m pool
    head -c 150M /dev/urandom >/dev/pool/raw; mkfs.ext4 -q /dev/pool/files; mkdir ${folder}/mnt
    mount /dev/pool/files ${folder}/mnt; head -c 100M /dev/urandom >${folder}/mnt/file; mkfs.ext4 -q /dev/vde; sync`);
  const before = await sums();
  note("the gateway starts");
  let clients = await start();
  try {
    // The pool's state, and its unusable spare.
    const { pool } = await clients.pool.getStoragePool({});
    assert.deepEqual(
      pool?.devices.map(({ path, usedBytes }) => [path, usedBytes]),
      [[first, 304n * mib]],
    );
    assert.deepEqual(
      pool?.spares.map(({ path, unusable }) => [path, unusable]),
      [
        [second, ""],
        [third, ""],
        [taken, "it contains ext4"],
      ],
    );
    assert.equal(
      await reasonOf(clients.pool.expandStoragePool({ minBytes: 2048n * mib })),
      "POOL_CANNOT_GROW",
    );
    assert.equal(
      await reasonOf(clients.pool.shrinkStoragePool({ maxBytes: 2048n * mib })),
      "POOL_CANNOT_SHRINK",
    );

    note("the pool grows");
    // It grows by the only spare that is large enough.
    let reported: PublishedState | undefined;
    for await (const { state, msg } of clients.published.expandStorage({ minBytes: Number(700n * mib) })) {
      reported = state;
      assert.notEqual(state, PublishedState.FAILED, msg);
    }
    assert.equal(reported, PublishedState.COMPLETED);
    assert.match(await type("pvs --noheadings -o pv_name,vg_name"), /vdc +pool/);

    note("the pool shrinks");
    // The device with the data is removed. The move is killed, once together with the gateway and once alone. The kernel
    // continues to copy by itself, more slowly than an emulated gateway starts.
    await setCopySpeed(0);
    const beganMs = performance.now();
    const { operation } = await clients.pool.shrinkStoragePool({ maxBytes: 700n * mib });
    const id = operation?.id ?? "";
    await untilMoved(clients, id, 1n);
    assert.equal(await reasonOf(clients.pool.expandStoragePool({ minBytes: 0n })), "INVALID_FIELD");
    note("the gateway is killed");
    await clients.gateway.kill("SIGKILL");
    // Without a reader of its progress, pvmove may end by itself before this.
    await type(
      "pkill -KILL -f '[l]vm pvmove' || true; while pgrep -f '[l]vm pvmove' >&2; do sleep 0.1; done",
    );
    assert.match(
      await type("lvs -a --noheadings -o lv_name pool"),
      /\[pvmove0\]/,
      "the move was interrupted",
    );
    clients = await start();
    note("the next gateway runs");
    const resumed = await untilMoved(clients, id, 1n);
    assert.ok(
      resumed.doneBytes !== undefined && resumed.doneBytes < 304n * mib,
      "the move is still incomplete",
    );
    note("the move continues");
    await type(
      "for i in $(seq 300); do ! pgrep -f '[l]vm pvmove' >&2 || break; sleep 0.1; done; pkill -KILL -f '[l]vm pvmove'",
    );
    await sleep(500);
    await setCopySpeed(100);
    note("pvmove is killed");
    const ended = await untilEnded(clients, id);
    assert.equal(ended.state, OperationState.COMPLETED, `${ended.message} ${ended.error?.message}`);
    const shrunkMs = performance.now() - beganMs;

    note("the operation has ended");
    // All data is intact and was in use all the time, and the device is free.
    await type("sync; echo 3 >/proc/sys/vm/drop_caches");
    assert.equal(await sums(), before);
    assert.doesNotMatch(await type("lvs -a --noheadings -o lv_name pool"), /pvmove/);
    assert.equal(
      (await type("dmsetup info -c --noheadings -o name,suspended | grep -i suspended || true")).trim(),
      "",
    );
    assert.match(await type("pvs --noheadings -o pv_name"), /^\s*\/dev\/vdc\s*$/);
    assert.doesNotMatch(await type("wipefs --no-act /dev/vdb"), /LVM2/);
    await type(`umount ${folder}/mnt; e2fsck -fn /dev/pool/files; vgck pool`);
    const { pool: after } = await clients.pool.getStoragePool({});
    assert.deepEqual(
      after?.devices.map(({ path }) => path),
      [second],
    );
    assert.equal(after?.spares.find(({ path }) => path === first)?.unusable, "");
    return { shrunkMs: Math.round(shrunkMs), resumedAtMib: Number((resumed.doneBytes ?? 0n) / mib) };
  } finally {
    await clients.gateway.kill("SIGTERM");
    await type(`umount ${folder}/mnt || true`);
    rmSync(folder, { recursive: true });
  }
}

/** Prints the progress, to help find out why a run failed. */
function note(stage: string): void {
  process.stderr.write(`${(performance.now() / 1000).toFixed(1)} s: ${stage}\n`);
}

/** Waits until the operation has moved that many bytes. */
async function untilMoved({ operations }: Clients, id: string, bytes: bigint): Promise<Operation> {
  return until(
    operations,
    id,
    (operation) => operation.step === "move" && (operation.doneBytes ?? 0n) >= bytes,
  );
}

async function untilEnded({ operations }: Clients, id: string): Promise<Operation> {
  return until(operations, id, ({ endedAt }) => endedAt !== undefined);
}

async function until(
  operations: Clients["operations"],
  id: string,
  holds: (operation: Operation) => boolean,
): Promise<Operation> {
  for (let attempt = 0; attempt < 600; attempt += 1) {
    const { operation } = await operations.getOperation({ id });
    if (operation !== undefined && holds(operation)) {
      return operation;
    }
    assert.equal(
      operation?.endedAt,
      undefined,
      `it ended: ${operation?.message} ${operation?.error?.message}`,
    );
    await sleep(200);
  }
  assert.fail(`operation ${id} never got that far`);
}

// A program for the virtual machine: node test/lab/vm/storage-pool-on-dm.ts
process.stdout.write(JSON.stringify(await checkStoragePool()));
