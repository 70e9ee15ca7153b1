import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { type Client, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { type Backup, BackupService } from "../../../gen/hostplane/v1/backup_pb.ts";
import { type Operation, OperationService, OperationState } from "../../../gen/hostplane/v1/operation_pb.ts";
import { StoragePoolService } from "../../../gen/hostplane/v1/storage_pool_pb.ts";
import { type GatewayProcess, startGatewayProcess } from "../gateway-process.ts";

const isFull = process.env.LAB_FULL === "1";

interface Clients {
  readonly gateway: GatewayProcess;
  readonly pool: Client<typeof StoragePoolService>;
  readonly backups: Client<typeof BackupService>;
  readonly operations: Client<typeof OperationService>;
}

async function type(command: string): Promise<string> {
  return (await promisify(execFile)("sh", ["-ec", command])).stdout;
}

/**
 * Backs up a volume group with a thick volume, a mounted file system and a thin volume while they are written to. With LAB_FULL=1
 * also restores all of them and kills the gateway in between. Compares the result with the original.
 * @throws AssertionError
 */
async function checkPoolBackups(): Promise<object> {
  const folder = mkdtempSync(join(tmpdir(), "hostplane-pool-"));
  const repository = `${folder}/backup/repository`;
  const start = async (): Promise<Clients> => {
    const backup = { repository, snapshotPercent: 50, minimumAgeHours: 0 };
    const hypervisors = { pool: { volumeGroup: "pool", backup } };
    const gateway = await startGatewayProcess(join(folder, "hostplane.yaml"), undefined, { hypervisors });
    const transport = createGrpcTransport({ baseUrl: gateway.url });
    return {
      gateway,
      pool: createClient(StoragePoolService, transport),
      backups: createClient(BackupService, transport),
      operations: createClient(OperationService, transport),
    };
  };
  const volumes = () => type("lvs -a --noheadings -o lv_name,lv_size,origin,lv_tags pool");
  const sumOf = async (path: string) => (await type(`sha256sum ${path}`)).split(" ")[0];
  await type(`vgcreate -q pool /dev/vdb
    lvcreate -q -y -n raw -L 48m pool; lvcreate -q -y -n files -L 64m pool
    lvcreate -q -y -T -L 128m -n thins pool; lvcreate -q -y -n thin -V 32m -T pool/thins
    head -c 48M /dev/urandom >/dev/pool/raw; head -c 32M /dev/urandom >/dev/pool/thin
    mkfs.ext4 -q /dev/pool/files; mkdir ${folder}/files; mount /dev/pool/files ${folder}/files
    head -c 20M /dev/urandom >${folder}/files/file; mkfs.ext4 -q /dev/vdc; mkdir ${folder}/backup
    mount /dev/vdc ${folder}/backup; sync`);
  const sums = {
    raw: await sumOf("/dev/pool/raw"),
    thin: await sumOf("/dev/pool/thin"),
    file: await sumOf(`${folder}/files/file`),
  };
  const before = await volumes();
  note("the gateway starts");
  let clients = await start();
  try {
    const beganMs = performance.now();
    const { operation } = await clients.pool.backUpStoragePool({});
    const id = operation?.id ?? "";
    // Writes after a volume's snapshot are not in its backup.
    await untilSnapshotOf("files");
    await type(`head -c 2M /dev/zero >${folder}/files/later; sync`);
    await untilSnapshotOf("raw");
    await type("head -c 4M /dev/zero | dd of=/dev/pool/raw conv=notrunc oflag=direct bs=1M");
    await untilSnapshotOf("thin");
    await type("head -c 4M /dev/zero | dd of=/dev/pool/thin conv=notrunc oflag=direct bs=1M");
    await assertDone(clients, id);
    const backupMs = performance.now() - beganMs;
    note("the backup is complete");
    assert.equal(await volumes(), before, "no snapshot is left");
    const stored = await backupsOf(clients, id);
    assert.deepEqual([...stored.keys()].toSorted(), ["files", "raw", "thin"]);
    assert.equal(readdirSync(`${repository}/snapshots`).length, 3);

    note("verifying and restoring it");
    // In emulation, each of them takes half a minute.
    const devices = isFull ? (["raw", "thin"] as const) : [];
    for (const name of ["files", ...devices]) {
      const { operation: verifying } = await clients.backups.verifyBackup({ id: stored.get(name)?.id ?? "" });
      await assertDone(clients, verifying?.id ?? "");
      await assertDone(clients, await restore(clients, stored.get(name)));
    }
    for (const name of devices) {
      assert.equal(await sumOf(`/dev/pool/again-${name}`), sums[name]);
      await type(`lvremove -q -y pool/again-${name}`);
    }
    await type(`mkdir ${folder}/again; mount /dev/pool/again-files ${folder}/again`);
    assert.equal(await sumOf(`${folder}/again/file`), sums.file);
    await type(`test ! -e ${folder}/again/later; umount ${folder}/again`);
    await type("lvremove -q -y pool/again-files");
    assert.equal(await volumes(), before, "a restored volume has no mark");

    if (!isFull) {
      return { backupMs: Math.round(backupMs) };
    }
    note("the gateway is killed while a volume is stored");
    const killed = (await clients.pool.backUpStoragePool({})).operation?.id ?? "";
    await untilSnapshotOf("raw");
    await clients.gateway.kill("SIGKILL");
    assert.notEqual(await volumes(), before, "its snapshot exists");
    clients = await start();
    await assertDone(clients, killed);
    assert.equal(await volumes(), before, "no snapshot is left after a kill");
    assert.deepEqual([...(await backupsOf(clients, killed)).keys()].toSorted(), ["files", "raw", "thin"]);
    assert.equal(readdirSync(`${repository}/snapshots`).length, 6, "each volume is stored once");

    note("the gateway is killed while a volume is filled");
    const filling = await restore(clients, stored.get("raw"));
    await until(clients, filling, ({ step, doneBytes = 0n }) => step === "fill" && doneBytes > 0n);
    await clients.gateway.kill("SIGKILL");
    clients = await start();
    await assertDone(clients, filling);
    assert.equal(await sumOf("/dev/pool/again-raw"), sums.raw);
    assert.equal(await type("pgrep -l restic || true"), "");
    return { backupMs: Math.round(backupMs) };
  } finally {
    await clients.gateway.kill("SIGTERM");
    await type(`umount ${folder}/files ${folder}/backup || true`);
    rmSync(folder, { recursive: true });
  }
}

/** Waits until the volume's snapshot is being read. */
async function untilSnapshotOf(name: string): Promise<void> {
  for (let attempt = 0; attempt < 1200; attempt += 1) {
    const origins = await type("lvs --noheadings -o origin -S lv_name=~hostplane-backup pool");
    if (origins.trim() === name) {
      return;
    }
    await sleep(100);
  }
  assert.fail(`there was never a snapshot of ${name}`);
}

async function restore({ backups }: Clients, backup: Backup | undefined): Promise<string> {
  const volumeName = `again-${backup?.volume.split("/").at(-1)}`;
  const { operation } = await backups.restoreBackup({ id: backup?.id ?? "", volumeName });
  return operation?.id ?? "";
}

/** Returns the backups of an operation, by the names of their volumes. */
async function backupsOf({ backups }: Clients, operationId: string): Promise<ReadonlyMap<string, Backup>> {
  const { backups: all } = await backups.listBackups({ volume: "storagePool" });
  const own = all.filter((backup) => backup.operationId === operationId);
  return new Map(own.map((backup) => [backup.volume.split("/").at(-1) ?? "", backup]));
}

async function assertDone(clients: Clients, id: string): Promise<void> {
  const { state, message, error } = await until(clients, id, ({ endedAt }) => endedAt !== undefined);
  assert.equal(state, OperationState.COMPLETED, `${message} ${error?.message}`);
}

async function until(
  { operations }: Clients,
  id: string,
  holds: (operation: Operation) => boolean,
): Promise<Operation> {
  for (let attempt = 0; attempt < 1200; attempt += 1) {
    const { operation } = await operations.getOperation({ id });
    if (operation !== undefined && holds(operation)) {
      return operation;
    }
    // Each poll takes CPU time of an emulated processor away from restic.
    await sleep(250);
  }
  assert.fail(`operation ${id} never got that far`);
}

/** Prints the progress, to help find out why a run failed. */
function note(stage: string): void {
  process.stderr.write(`${(performance.now() / 1000).toFixed(1)} s: ${stage}\n`);
}

// A program for the virtual machine: node test/lab/vm/storage-pool-backup-on-dm.ts
process.stdout.write(JSON.stringify(await checkPoolBackups()));
