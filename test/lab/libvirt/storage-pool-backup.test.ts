import { execFile } from "node:child_process";
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { chmod, chown, mkdtemp, open, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { type Test, test } from "tap";
import { createLibvirt } from "../../../adapters/libvirt/libvirt.ts";
import { type Backup, BackupService } from "../../../gen/hostplane/v1/backup_pb.ts";
import { type Operation, OperationService, OperationState } from "../../../gen/hostplane/v1/operation_pb.ts";
import { StoragePoolService } from "../../../gen/hostplane/v1/storage_pool_pb.ts";
import {
  OperationsService,
  OperationState as PublishedState,
} from "../../../gen/operations/v1/operations_pb.ts";
import { type GatewayProcess, startGatewayProcess } from "../gateway-process.ts";
import { libvirtSkipReason, startLibvirt } from "./libvirt.ts";

// A directory pool of a real libvirtd with QEMU, backed up by gateways in separate processes with a real restic.

const skip = libvirtSkipReason();
const execute = promisify(execFile);
const mebibyte = 1 << 20;
const diskMebibytes = 160;
const names = ["base.qcow2", "odd, é.raw", "off.qcow2", "on-a.qcow2", "on-b.qcow2", "seed.iso"];

/** Bytes of a disk that the guest writes to; the rest does not change. */
const writtenBytes = mebibyte;

async function makeLab(t: Test) {
  const daemon = await startLibvirt(t);
  const folder = await mkdtemp(join(tmpdir(), "hp-"));
  const socketsDirectory = join(folder, "s");
  const repository = join(folder, "repository");
  await chmod(folder, 0o755);
  await execute("install", ["-d", "-m", "1777", socketsDirectory]);
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const directory = join(daemon.poolsDirectory, "images");
  await daemon.virsh("pool-create-as", "images", "dir", "--build", "--target", directory);
  const { uid, gid } = await stat(directory);
  const raw = join(folder, "raw");
  const sums = new Map<string, string>();
  for (const name of ["base.qcow2", "on-a.qcow2", "on-b.qcow2"]) {
    await execute("dd", ["if=/dev/urandom", `of=${raw}`, "bs=1M", `count=${diskMebibytes}`, "status=none"]);
    sums.set(name, await checksum(raw, writtenBytes));
    await execute("qemu-img", ["convert", "-f", "raw", "-O", "qcow2", raw, join(directory, name)]);
  }
  const overlay = ["-f", "qcow2", "-F", "qcow2", "-b", join(directory, "base.qcow2")];
  await execute("qemu-img", ["create", ...overlay, join(directory, "off.qcow2")]);
  await execute("qemu-io", ["-f", "qcow2", "-c", "write -P 0x5a 3M 2M", join(directory, "off.qcow2")]);
  await execute("xorrisofs", ["-quiet", "-o", join(directory, "seed.iso"), "package.json"]);
  await writeFile(join(directory, "odd, é.raw"), randomBytes(1_000_003));
  // Neither of the next two counts as a volume with data.
  await writeFile(join(directory, "empty.raw"), "");
  await execute("install", ["-d", join(directory, "lost+found")]);
  for (const name of names) {
    await chown(join(directory, name), uid, gid);
  }
  await daemon.virsh("pool-refresh", "images");
  const libvirt = createLibvirt({ uri: daemon.uri, seedTool: ["true"] });
  t.teardown(() => libvirt.close());
  const domains = [
    { name: "on", volumes: ["on-a.qcow2", "on-b.qcow2"] },
    { name: "off", volumes: ["off.qcow2"] },
  ].map(({ name, volumes }) => ({
    name,
    uuid: randomUUID(),
    vcpuCount: 1,
    memoryBytes: 32n << 20n,
    mark: { hypervisorId: name, operationId: "op", createdVolumes: [] },
    serial: name,
    disks: volumes.map((volume) => ({ pool: "images", volume, format: "qcow2", device: "disk" }) as const),
    network: undefined,
    hostDevices: [],
  }));
  for (const domain of domains) {
    await libvirt.run({ kind: "define", domain });
  }
  await libvirt.run({ kind: "start", name: "on", uuid: domains[0]?.uuid ?? "" });
  const configured = {
    hypervisors: {
      libvirt: { uri: daemon.uri, socketsDirectory },
      pool: { directory, libvirtPool: "images", backup: { repository, minimumAgeHours: 0 } },
    },
  };
  return {
    daemon,
    directory,
    sums,
    async start() {
      const gateway = await startGatewayProcess(join(folder, "hostplane.yaml"), undefined, configured);
      t.teardown(() => gateway.kill("SIGKILL"));
      return { gateway, ...clientsOf(gateway) };
    },
    /** Simulates a guest that writes the same byte first to one disk and then to the other. */
    write(at: number, pattern: number) {
      const device = `/machine/peripheral/virtio-disk${at}/virtio-backend`;
      const command = `qemu-io -d ${device} "write -P ${pattern} 0 64k"`;
      return daemon.virsh("qemu-monitor-command", "on", "--hmp", command);
    },
    /** Returns what a backup leaves behind if it is not cleaned up. */
    async leftovers() {
      const job = await daemon.virsh("domjobinfo", "on");
      const files = (await readdir(directory)).filter((name) => name.startsWith(".hostplane-"));
      const sockets = await readdir(socketsDirectory);
      return [...files, ...sockets, ...(/None/.test(job) ? [] : [job])];
    },
    snapshotCount: async () => (await readdir(join(repository, "snapshots"))).length,
  };
}

type Lab = Awaited<ReturnType<typeof makeLab>>;
type Clients = Awaited<ReturnType<Lab["start"]>>;

function clientsOf({ url }: GatewayProcess) {
  const transport = createGrpcTransport({ baseUrl: url });
  return {
    pool: createClient(StoragePoolService, transport),
    published: createClient(OperationsService, transport),
    operations: createClient(OperationService, transport),
    backups: createClient(BackupService, transport),
  };
}

/** Returns the checksum of a file without its first bytes. */
async function checksum(path: string, fromBytes = 0): Promise<string> {
  const hash = createHash("sha256");
  const file = await open(path);
  for await (const piece of file.createReadStream({ start: fromBytes })) {
    hash.update(piece);
  }
  return hash.digest("hex");
}

async function endOf({ operations }: Pick<Clients, "operations">, id: string): Promise<Operation> {
  let last: Operation | undefined;
  for await (const { operation } of operations.watchOperation({ id })) {
    last = operation ?? last;
  }
  if (last === undefined) {
    throw new Error("the operation's stream had no message");
  }
  return last;
}

/** Waits until the operation is in the middle of a disk of the running VM. */
async function untilStoring({ operations }: Pick<Clients, "operations">, id: string): Promise<void> {
  for await (const { operation } of operations.watchOperation({ id })) {
    if (/^storing on-/.test(operation?.message ?? "") && (operation?.doneBytes ?? 0n) > 0n) {
      return;
    }
    if ((operation?.state ?? 0) > OperationState.ACTIVE) {
      throw new Error(`the operation has ended: ${operation?.message} ${operation?.error?.message}`);
    }
  }
}

/** Kills the restic that stores a volume of the guest, as soon as it runs. Other commands of restic run before and after it. */
async function killRestic({ pid }: GatewayProcess): Promise<void> {
  const kill = () =>
    execute("pkill", ["-KILL", "-P", String(pid), "-f", String.raw`restic backup .*on-[ab]\.qcow2`]).then(
      () => true,
      () => false,
    );
  while (!(await kill())) {
    await sleep(20);
  }
}

async function listed({ backups }: Pick<Clients, "backups">, operationId: string): Promise<Backup[]> {
  const { backups: all } = await backups.listBackups({ volume: "storagePool", pageSize: 100 });
  return all.filter((backup) => backup.operationId === operationId);
}

function assertDone(t: Test, { state, error, attention }: Operation, where: string): void {
  t.equal(state, OperationState.COMPLETED, `${where}: ${error?.message} ${attention?.left}`);
}

/** Lets the guest write until the returned function is called. */
function beginWriting(lab: Lab) {
  let isOn = true;
  const writing = (async () => {
    for (let pattern = 1; isOn; pattern = (pattern % 255) + 1) {
      // libvirtd may be away for a while.
      await lab.write(0, pattern).catch(() => sleep(50));
      await lab.write(1, pattern).catch(() => sleep(50));
    }
  })();
  return async () => {
    isOn = false;
    await writing;
  };
}

test("a directory pool is backed up and restored while a guest writes", {
  skip,
  timeout: 300_000,
}, async (t) => {
  const lab = await makeLab(t);
  const clients = await lab.start();
  const stopWriting = beginWriting(lab);
  const reported: string[] = [];
  let last: PublishedState | undefined;
  let operationId = "";
  const onHeader = (headers: Headers) => {
    operationId = headers.get("hostplane-operation") ?? "";
  };
  const beganAtMs = performance.now();
  for await (const { state, msg } of clients.published.createBackup({}, { onHeader })) {
    reported.push(msg);
    last = state;
  }
  t.comment(
    `${names.length} volumes took ${(performance.now() - beganAtMs).toFixed(0)} ms: ${reported.join(" | ")}`,
  );
  await stopWriting();
  t.equal(last, PublishedState.COMPLETED);
  t.match(reported.at(-1), /^6 volumes of .* stored as pool-/);
  t.strictSame(await lab.leftovers(), []);
  const backups = await listed(clients, operationId);
  t.strictSame(
    backups.map(({ volume }) => volume).toSorted(),
    names.map((name) => `storagePool/volumes/${name}`),
  );
  t.equal(await lab.snapshotCount(), names.length);

  const restored = new Map<string, string>();
  for (const { id, volume } of backups) {
    const name = volume.split("/").at(-1) ?? "";
    const { operation: verifying } = await clients.backups.verifyBackup({ id });
    assertDone(t, await endOf(clients, verifying?.id ?? ""), `${name} is verified`);
    const volumeName = `again ${name}`;
    const { operation } = await clients.backups.restoreBackup({ id, volumeName });
    assertDone(t, await endOf(clients, operation?.id ?? ""), `${name} is restored`);
    restored.set(name, join(lab.directory, volumeName));
  }
  const pathOf = (name: string) => restored.get(name) ?? "";
  for (const name of names.filter((one) => !one.startsWith("on-"))) {
    t.equal(await checksum(pathOf(name)), await checksum(join(lab.directory, name)), `${name} as stored`);
  }
  const written: number[] = [];
  for (const name of ["on-a.qcow2", "on-b.qcow2"]) {
    t.equal(
      (await stat(pathOf(name))).size,
      diskMebibytes * mebibyte,
      `${name} with the size that the guest sees`,
    );
    t.equal(
      await checksum(pathOf(name), writtenBytes),
      lab.sums.get(name),
      `${name}, outside the written part`,
    );
    const bytes = (await readFile(pathOf(name))).subarray(0, 65_536);
    t.equal(new Set(bytes).size, 1, `${name} has whole writes`);
    written.push(bytes[0] ?? 0);
  }
  const [first = 0, second = 0] = written;
  t.ok(
    first === second || first === (second % 255) + 1,
    `both disks are from the same moment: ${first} and ${second}`,
  );
  const volumes = await lab.daemon.virsh("vol-list", "images");
  t.match(volumes, /again off\.qcow2/, "libvirt lists restored volumes");
  t.match(await lab.daemon.virsh("vol-dumpxml", "--pool", "images", "again off.qcow2"), /base\.qcow2/);
  await clients.gateway.kill("SIGTERM");
});

test("whatever is killed, each volume is stored once and nothing else is left", {
  skip,
  timeout: 300_000,
}, async (t) => {
  const lab = await makeLab(t);
  let clients = await lab.start();
  const stopWriting = beginWriting(lab);
  let expected = 0;
  for (const victim of ["the gateway", "libvirtd", "restic", "the gateway, and its backup is cancelled"]) {
    const { operation } = await clients.pool.backUpStoragePool({});
    const id = operation?.id ?? "";
    if (victim === "restic") {
      await killRestic(clients.gateway);
    } else {
      await untilStoring(clients, id);
    }
    if (victim === "libvirtd") {
      await lab.daemon.kill();
      await sleep(500);
      await lab.daemon.start();
    } else if (victim !== "restic") {
      await clients.gateway.kill("SIGKILL");
      t.not((await lab.leftovers()).length, 0, "a VM still has a backup job");
      clients = await lab.start();
    }
    if (victim.endsWith("cancelled") || victim === "restic") {
      // A killed restic leaves no error that would allow a retry.
      await (victim === "restic" ? undefined : clients.operations.cancelOperation({ id }));
      const ended = victim === "restic" ? OperationState.FAILED : OperationState.CANCELLED;
      t.equal((await endOf(clients, id)).state, ended, victim);
      t.strictSame(await listed(clients, id), []);
    } else {
      assertDone(t, await endOf(clients, id), victim);
      t.strictSame(
        (await listed(clients, id)).map(({ volume }) => volume.split("/").at(-1)).toSorted(),
        names,
        `${victim}: listed backups`,
      );
      expected += names.length;
    }
    t.equal(await lab.snapshotCount(), expected, `${victim}: snapshots in the repository`);
    t.strictSame(await lab.leftovers(), [], `${victim}: leftovers`);
  }

  // An interrupted restore starts again from the beginning.
  const { backups } = await clients.backups.listBackups({ volume: "storagePool/volumes/on-b.qcow2" });
  const { operation } = await clients.backups.restoreBackup({
    id: backups[0]?.id ?? "",
    volumeName: "again",
  });
  const id = operation?.id ?? "";
  for await (const { operation: now } of clients.operations.watchOperation({ id })) {
    if (now?.step === "fill" && (now.doneBytes ?? 0n) > 0n) {
      break;
    }
  }
  await clients.gateway.kill("SIGKILL");
  clients = await lab.start();
  assertDone(t, await endOf(clients, id), "a restore");
  await stopWriting();
  t.equal(await checksum(join(lab.directory, "again"), writtenBytes), lab.sums.get("on-b.qcow2"));
  await clients.gateway.kill("SIGTERM");
});
