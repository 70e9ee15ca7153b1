import { execFile, spawn } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { chmod, chown, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import tap, { type Test, test } from "tap";
import { backupDirectory } from "../../../adapters/libvirt/backup/backup-names.ts";
import { createLibvirt } from "../../../adapters/libvirt/libvirt.ts";
import { reasonOf } from "../../adapters/host/reason-of.ts";
import { libvirtSkipReason, type StartedLibvirt, startLibvirtDaemon } from "./libvirt.ts";

// Backup tests that need a real daemon with a real QEMU; what the sandbox can do as well is in the contract.

const skip = libvirtSkipReason();
const execute = promisify(execFile);
const { signal } = new AbortController();
const mebibyte = 1 << 20;
const diskBytes = 64 * mebibyte;

let shared: Promise<StartedLibvirt> | undefined;

async function startShared(): Promise<StartedLibvirt> {
  const daemon = await startLibvirtDaemon();
  tap.teardown(daemon.destroy);
  return daemon;
}

/** Creates a running VM with two disks of 64 MiB. They start with 1 MiB of 0xaa and 0xbb; the rest is zero. */
async function makeRunning(t: Test) {
  shared ??= startShared();
  const daemon = await shared;
  const pool = `lab-${process.hrtime.bigint()}`;
  const directory = join(daemon.poolsDirectory, pool);
  await daemon.virsh("pool-create-as", pool, "dir", "--build", "--target", directory);
  const libvirt = createLibvirt({ uri: daemon.uri, seedTool: ["true"] });
  t.teardown(async () => {
    await daemon.virsh("destroy", "bm-1").catch(() => {});
    await daemon.virsh("undefine", "bm-1", "--checkpoints-metadata").catch(() => {});
    await libvirt.close();
    await daemon.virsh("pool-destroy", pool);
  });
  const { uid, gid } = await stat(directory);
  const sizeBytes = BigInt(diskBytes);
  for (const [name, pattern] of [
    ["a", "0xaa"],
    ["b", "0xbb"],
  ] as const) {
    await libvirt.run({ kind: "createVolume", pool, name, format: "qcow2", sizeBytes });
    const path = join(directory, name);
    await execute("qemu-io", ["-f", "qcow2", "-c", `write -P ${pattern} 1M 1M`, path]);
    await chown(path, uid, gid);
  }
  const disks = ["a", "b"].map((volume) => ({ pool, volume, format: "qcow2", device: "disk" }) as const);
  const domain = {
    name: "bm-1",
    uuid: randomUUID(),
    vcpuCount: 1,
    memoryBytes: 32n << 20n,
    mark: { hypervisorId: "bm-1", operationId: "op", createdVolumes: [] },
    serial: "bm-1",
    disks,
    network: undefined,
    hostDevices: [],
  };
  await libvirt.run({ kind: "define", domain });
  await libvirt.run({ kind: "start", name: "bm-1", uuid: domain.uuid });
  /** Simulates a write of the guest. */
  const write = (at: number, pattern: string) =>
    daemon.virsh(
      "qemu-monitor-command",
      "bm-1",
      "--hmp",
      `qemu-io -d /machine/peripheral/virtio-disk${at}/virtio-backend "write -P ${pattern} 1M 1M"`,
    );
  const request = {
    name: "bm-1",
    uuid: domain.uuid,
    targets: ["vda", "vdb"],
    token: `${randomUUID()}.store`,
  };
  return { daemon, libvirt, pool, directory, request, write };
}

/** Returns the expected checksum of such a disk. */
function expected(pattern: number): string {
  const bytes = Buffer.alloc(diskBytes);
  bytes.fill(pattern, mebibyte, 2 * mebibyte);
  return createHash("sha256").update(bytes).digest("hex");
}

async function checksum(content: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash("sha256");
  for await (const piece of content) {
    hash.update(piece);
  }
  return hash.digest("hex");
}

async function leftovers(lab: { readonly directory: string; readonly request: { readonly token: string } }) {
  const files = (await readdir(lab.directory)).filter((name) => name !== "a" && name !== "b");
  const isThere = await stat(backupDirectory(tmpdir(), lab.request.token)).then(
    () => true,
    () => false,
  );
  return [...files, ...(isThere ? ["the socket's directory"] : [])];
}

test("writes of a running VM during a backup are not in the backup of any disk", {
  skip,
}, async (t) => {
  const lab = await makeRunning(t);
  const { libvirt, pool, request, write } = lab;
  const backup = await libvirt.beginBackup(request, signal);
  await write(1, "0xcc");
  t.equal(await checksum(backup.read("vda", signal)), expected(0xaa));
  await write(0, "0xdd");
  const beganAtMs = performance.now();
  const both = await Promise.all(["vda", "vdb"].map((target) => checksum(backup.read(target, signal))));
  t.comment(`128 MiB were read in ${(performance.now() - beganAtMs).toFixed(0)} ms`);
  t.strictSame(both, [expected(0xaa), expected(0xbb)]);
  t.strictSame(
    (await libvirt.volumesOf(pool)).map(({ name }) => name),
    ["a", "b"],
  );
  await backup.end();
  t.strictSame(await leftovers(lab), []);

  const next = await libvirt.beginBackup(request, signal);
  t.equal(await checksum(next.read("vda", signal)), expected(0xdd));
  t.equal(await checksum(next.read("vdb", signal)), expected(0xcc));
  await next.end();
});

test("backup sockets are in the configured directory, and are removed", {
  skip,
}, async (t) => {
  const { daemon, request } = await makeRunning(t);
  const socketsDirectory = await mkdtemp("/tmp/hostplane-sockets-");
  await chmod(socketsDirectory, 0o755);
  const libvirt = createLibvirt({ uri: daemon.uri, seedTool: ["true"], socketsDirectory });
  t.teardown(async () => {
    await libvirt.close();
    await rm(socketsDirectory, { recursive: true });
  });
  const backup = await libvirt.beginBackup(request, signal);
  t.equal((await readdir(socketsDirectory)).length, 1);
  t.equal(await checksum(backup.read("vdb", signal)), expected(0xbb));
  await backup.end();
  t.strictSame(await readdir(socketsDirectory), []);
});

test("files of a backup that a pool refresh finds are not listed as volumes", { skip }, async (t) => {
  const { daemon, libvirt, pool, request } = await makeRunning(t);
  const backup = await libvirt.beginBackup(request, signal);
  await daemon.virsh("pool-refresh", pool);
  t.match(await daemon.virsh("vol-list", pool), /\.hostplane-backup-/);
  t.strictSame(
    (await libvirt.volumesOf(pool)).map(({ name }) => name),
    ["a", "b"],
  );
  await backup.end();
});

test("a backup left by a killed gateway is found by its token, and ended", { skip }, async (t) => {
  const lab = await makeRunning(t);
  const { daemon, libvirt, request } = lab;
  const script = fileURLToPath(new URL("begin-libvirt-backup.ts", import.meta.url));
  const args = [script, daemon.uri, "bm-1", request.uuid, "vda", request.token];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  child.kill("SIGKILL");
  await once(child, "exit");
  t.match(await daemon.virsh("domjobinfo", "bm-1"), /Backup/);
  await libvirt.endBackup({ ...request, token: "another" });
  t.match(await daemon.virsh("domjobinfo", "bm-1"), /Backup/, "a backup with another token is not ended");
  await libvirt.endBackup(request);
  t.match(await daemon.virsh("domjobinfo", "bm-1"), /None/);
  t.strictSame(await leftovers(lab), []);
});

test("a backup survives a kill of libvirtd, although libvirtd cannot report it meanwhile", {
  skip,
}, async (t) => {
  const lab = await makeRunning(t);
  const { daemon, libvirt, request } = lab;
  const backup = await libvirt.beginBackup(request, signal);
  await daemon.kill();
  t.equal(await checksum(backup.read("vda", signal)), expected(0xaa), "QEMU still exports it");
  t.equal(await reasonOf(backup.end()), "LIBVIRT_UNAVAILABLE");
  await daemon.start();
  while ((await reasonOf(backup.end())) !== undefined) {
    await new Promise(setImmediate);
  }
  t.strictSame(await leftovers(lab), []);
});

test("a backup started by others is left alone", { skip }, async (t) => {
  const lab = await makeRunning(t);
  const { daemon, libvirt, request } = lab;
  const theirs = await libvirt.beginBackup({ ...request, token: "theirs" }, signal);
  t.equal(await reasonOf(libvirt.beginBackup(request, signal)), "STORAGE_VOLUME_IN_USE");
  t.match(await daemon.virsh("domjobinfo", "bm-1"), /Backup/);
  t.equal(await checksum(theirs.read("vdb", signal)), expected(0xbb));
  await theirs.end();
});

test("a volume that is written to outside any VM does not count as read", { skip }, async (t) => {
  const { daemon, libvirt, pool, directory } = await makeRunning(t);
  await daemon.virsh("destroy", "bm-1");
  const reading = async () => {
    for await (const _ of libvirt.readVolume(pool, "a", signal)) {
      await execute("qemu-io", ["-f", "qcow2", "-c", "write -P 0xee 5M 64k", join(directory, "a")]);
    }
  };
  t.equal(await reasonOf(reading()), "STORAGE_VOLUME_IN_USE");
  const { storedBytes } = (await libvirt.volumesOf(pool)).find(({ name }) => name === "a") ?? {};
  const { stdout } = await execute("sha256sum", [join(directory, "a")]);
  t.equal(await checksum(libvirt.readVolume(pool, "a", signal)), stdout.slice(0, 64));
  t.equal(Number(storedBytes), (await stat(join(directory, "a"))).size);
});
