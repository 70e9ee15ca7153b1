import { execFile } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import tap, { type Test, test } from "tap";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import type { VolumeContent } from "../../../adapters/libvirt/backup-adapter.ts";
import { createLibvirt } from "../../../adapters/libvirt/libvirt.ts";
import { operationReasons } from "../../../server/operations/reasons.ts";
import { reasonOf } from "../../adapters/host/reason-of.ts";
import { libvirtSkipReason, type StartedLibvirt, startLibvirtDaemon } from "./libvirt.ts";

// Tests of writing volumes that need a real daemon; what the sandbox can do as well is in the contract.

const skip = libvirtSkipReason();
const execute = promisify(execFile);
const { signal } = new AbortController();
const mebibyte = 1 << 20;

let shared: Promise<StartedLibvirt> | undefined;

async function startShared(): Promise<StartedLibvirt> {
  const daemon = await startLibvirtDaemon();
  tap.teardown(daemon.destroy);
  return daemon;
}

/** Creates a separate pool for the test; with `sizeMib`, on a file system of that size. */
async function makeLab(t: Test, sizeMib?: number) {
  shared ??= startShared();
  const daemon = await shared;
  const pool = `write-${process.hrtime.bigint()}`;
  const directory = join(daemon.poolsDirectory, pool);
  if (sizeMib !== undefined) {
    await mkdir(directory);
    await execute("mount", ["-t", "tmpfs", "-o", `size=${sizeMib}m,mode=0777`, "hostplane-lab", directory]);
    t.teardown(() => execute("umount", ["--lazy", directory]));
  }
  await daemon.virsh("pool-create-as", pool, "dir", "--build", "--target", directory);
  const libvirt = createLibvirt({ uri: daemon.uri, seedTool: ["true"] });
  t.teardown(async () => {
    await libvirt.close();
    await daemon.virsh("pool-destroy", pool);
  });
  const create = (name: string, bytes: number, isPreallocated = true) => {
    const sizeBytes = BigInt(bytes);
    return libvirt.run({ kind: "createVolume", pool, name, format: "raw", sizeBytes, isPreallocated });
  };
  const files = () => readdir(directory);
  const digest = async (name: string) => sha256(await readFile(join(directory, name)));
  return { daemon, libvirt, pool, create, files, digest };
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Yields pieces of restic's length; calls `onPiece` before each. */
function contentOf(bytes: Uint8Array, onPiece: (at: number) => unknown = () => {}): VolumeContent {
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += 65_536) {
      await onPiece(at);
      yield bytes.subarray(at, at + 65_536);
    }
  }
  return { content: pieces(), sizeBytes: BigInt(bytes.length) };
}

test("written content is stored byte by byte, whatever its length", { skip }, async (t) => {
  const { libvirt, pool, create, digest } = await makeLab(t);
  for (const bytes of [1, 511, 8 * mebibyte + 1, 32 * mebibyte]) {
    const name = `of-${bytes}`;
    const expected = randomBytes(bytes);
    await create(name, bytes);
    let done = 0n;
    await libvirt.writeVolume(pool, name, contentOf(expected), signal, (doneBytes) => {
      done = doneBytes;
    });
    t.equal(done, BigInt(bytes));
    t.equal(await digest(name), sha256(expected), name);
  }
});

test("a pool without room for a volume creates nothing, and reports no other volume as written", {
  skip: skip || (process.getuid?.() === 0 ? false : "only root may mount"),
}, async (t) => {
  const { libvirt, pool, create, files } = await makeLab(t, 16);
  t.equal(await reasonOf(create("a", 17 * mebibyte)), "NO_SPACE");
  t.strictSame(await files(), []);
  await create("a", 12 * mebibyte);
  t.equal(await reasonOf(create("b", 5 * mebibyte)), "NO_SPACE");
  t.strictSame(await files(), ["a"]);
  await libvirt.writeVolume(pool, "a", contentOf(randomBytes(12 * mebibyte)), signal);
  for (const bytes of [4.25 * mebibyte, 6 * mebibyte, 64 * mebibyte]) {
    await create("b", bytes, false);
    const reason = await reasonOf(libvirt.writeVolume(pool, "b", contentOf(randomBytes(bytes)), signal));
    t.comment(`${bytes} bytes: ${reason}`);
    t.ok(reason === "NO_SPACE" || reason === "LIBVIRT_FAILED", `${bytes} bytes: ${reason}`);
    await libvirt.run({ kind: "deleteVolume", pool, name: "b" });
  }
});

test("a write that is interrupted by a kill of libvirtd fails, and can be started again", {
  skip,
}, async (t) => {
  const { daemon, libvirt, pool, create, digest } = await makeLab(t);
  const expected = randomBytes(16 * mebibyte);
  await create("a", expected.length);
  const killing = contentOf(expected, (at) => (at === 8 * mebibyte ? daemon.kill() : undefined));
  t.equal(await reasonOf(libvirt.writeVolume(pool, "a", killing, signal)), "LIBVIRT_UNAVAILABLE");
  await daemon.start();
  while ((await reasonOf(libvirt.read())) !== undefined) {
    await new Promise(setImmediate);
  }
  await libvirt.writeVolume(pool, "a", contentOf(expected), signal);
  t.equal(await digest("a"), sha256(expected));
});

test("a stopped write ends with the reason, and its volume can be deleted at once", { skip }, async (t) => {
  const { libvirt, pool, create, files } = await makeLab(t);
  const expected = randomBytes(16 * mebibyte);
  await create("a", expected.length);
  const stop = new AbortController();
  const stopping = contentOf(expected, (at) => {
    if (at === 8 * mebibyte) {
      stop.abort(new InfraError(operationReasons.OPERATION_CANCELLED, "by the test"));
    }
  });
  t.equal(await reasonOf(libvirt.writeVolume(pool, "a", stopping, stop.signal)), "OPERATION_CANCELLED");
  await libvirt.run({ kind: "deleteVolume", pool, name: "a" });
  t.strictSame(await files(), []);
});
