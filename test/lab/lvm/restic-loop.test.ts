import { createHash, randomBytes } from "node:crypto";
import { constants, mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Test, test } from "tap";
import { run } from "../../../adapters/host/process/run.ts";
import { createRestic } from "../../../adapters/restic/restic.ts";
import { reasonOf } from "../../adapters/host/reason-of.ts";
import { transferOptions } from "../../adapters/restic/contract.ts";
import { reasonToSkip as resticMissing } from "../../adapters/restic/local-repository.ts";
import { reasonToSkip as loopMissing } from "./loop-volume-group.ts";

const skip = (await resticMissing()) || ((await loopMissing()) ?? false);
const sizeBytes = 8 << 20;

/** Creates a block device with these bytes; it exists until the test ends. */
async function makeDevice(t: Test, directory: string, name: string, bytes: Buffer): Promise<string> {
  const file = join(directory, name);
  await writeFile(file, bytes);
  const { stdout, stderr } = await run(["losetup", "--find", "--show", file], { kind: "mutate" });
  const device = stdout.trim();
  if (device === "") {
    throw new Error(stderr);
  }
  t.teardown(() => run(["losetup", "--detach", device], { kind: "mutate" }));
  return device;
}

test("restic transfers the content of block devices, and does not touch one that is in use", {
  skip,
}, async (t) => {
  const directory = await mkdtemp(join(tmpdir(), "hostplane-restic-loop-"));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  const bytes = randomBytes(sizeBytes);
  const source = await makeDevice(t, directory, "source", bytes);
  const target = await makeDevice(t, directory, "target", Buffer.alloc(2 * sizeBytes));
  const small = await makeDevice(t, directory, "small", Buffer.alloc(sizeBytes / 2));
  const restic = createRestic();
  t.teardown(() => restic.close());
  const repository = {
    location: { kind: "local", path: join(directory, "repository") },
    password: "p",
  } as const;
  await restic.ensureRepository(repository, new AbortController().signal);
  const spec = { device: source, sizeBytes, fileName: "data", tags: ["loop"] };
  const snapshot = { ...spec, id: await restic.backup(repository, spec, transferOptions()) };

  // Opened exclusively, like a mount or device-mapper.
  const holder = await open(target, constants.O_RDONLY | constants.O_EXCL);
  t.equal(await reasonOf(restic.restore(repository, snapshot, target, transferOptions())), "VOLUME_IN_USE");
  await holder.close();
  t.ok((await readFile(join(directory, "target"))).every((byte) => byte === 0));

  await restic.restore(repository, snapshot, target, transferOptions());
  const sum = (all: Buffer) => createHash("sha256").update(all.subarray(0, sizeBytes)).digest("hex");
  t.equal(sum(await readFile(join(directory, "target"))), sum(bytes), "it is on the disk");

  await t.rejects(
    restic.backup(repository, { ...spec, device: target, tags: ["larger"] }, transferOptions()),
    { reason: "TOOL_FAILED", message: /16777216 bytes of .* were read instead of 8388608/ },
  );
  t.strictSame(await restic.list(repository, ["larger"], new AbortController().signal), []);
  await t.rejects(restic.restore(repository, snapshot, small, transferOptions()), {
    reason: "TOOL_FAILED",
    message: /no space left on device/,
  });
});
