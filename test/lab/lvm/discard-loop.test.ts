import { constants, openSync, readSync } from "node:fs";
import { mkdir, open, rm, symlink } from "node:fs/promises";
import { type Test, test } from "tap";
import { createLvm } from "../../../adapters/lvm/lvm.ts";
import { makeLoopVolumeGroups, reasonToSkip } from "./loop-volume-group.ts";

const skip = (await reasonToSkip()) ?? false;
const mib = 2 ** 20;
const gib = 2 ** 30;
const sizeBytes = 2100 * mib;
/** Where the device contains data before each test: in each of its parts, and at their ends. */
const filled = [0, gib - mib, gib, 2 * gib - mib, 2 * gib, sizeBytes - mib];

/** Creates a loop device with data, at the path of a thin volume, and the function that discards it. */
async function createSubject(t: Test) {
  const { spares, options } = await makeLoopVolumeGroups(t, 0, sizeBytes / (4 * mib), 1);
  const lvm = createLvm(options);
  t.teardown(() => lvm.close());
  const volumeGroupName = `hostplane-${process.pid}-discard`;
  const folder = `/dev/${volumeGroupName}`;
  const device = `${folder}/volume`;
  await mkdir(folder);
  t.teardown(() => rm(folder, { recursive: true }));
  await symlink(spares[0] ?? "", device);
  const file = await open(device, "r+");
  for (const offset of filled) {
    await file.write(Buffer.alloc(mib, "x"), 0, mib, offset);
  }
  await file.sync();
  await file.close();
  const controller = new AbortController();
  return {
    device,
    controller,
    discard: (onProgress: (doneBytes: number) => void) =>
      lvm.data.run(
        { kind: "wipe", volumeGroupName, name: "volume", sizeBytes: BigInt(sizeBytes), isThin: true },
        {
          signal: controller.signal,
          token: "discard",
          onProgress: ({ doneBytes, totalBytes }) => {
            t.equal(totalBytes, sizeBytes);
            onProgress(doneBytes);
          },
        },
      ),
    /** Returns where the device still contains data. */
    async left() {
      const reader = await open(device, "r");
      const buffer = Buffer.alloc(mib);
      const found = filled.filter((offset) => {
        readSync(reader.fd, buffer, 0, mib, offset);
        return buffer.some((byte) => byte !== 0);
      });
      await reader.close();
      return found;
    },
  };
}

test("a volume is discarded in parts, and nothing else can use it meanwhile", { skip }, async (t) => {
  const { device, discard, left } = await createSubject(t);
  t.same(await left(), filled);
  const progress: number[] = [];
  await discard((doneBytes) => {
    progress.push(doneBytes);
    t.throws(() => openSync(device, constants.O_RDONLY | constants.O_EXCL), { code: "EBUSY" });
  });
  t.same(progress, [gib, 2 * gib, sizeBytes]);
  t.same(await left(), []);
});

test("a cancelled discard ends between two parts", { skip }, async (t) => {
  const { device, controller, discard, left } = await createSubject(t);
  const progress: number[] = [];
  const cancelled = discard((doneBytes) => {
    progress.push(doneBytes);
    controller.abort();
  });
  await t.rejects(cancelled, { name: "InfraError", reason: "CALLER_LEFT" });
  t.same(progress, [gib]);
  t.same(await left(), filled.slice(2));
  const file = await open(device, constants.O_RDONLY | constants.O_EXCL);
  await file.close();
});

test("a volume that is in use is not discarded", { skip }, async (t) => {
  const { device, discard, left } = await createSubject(t);
  const file = await open(device, constants.O_RDONLY | constants.O_EXCL);
  await t.rejects(
    discard(() => t.fail("it is discarded")),
    { name: "InfraError", reason: "VOLUME_IN_USE" },
  );
  await file.close();
  t.same(await left(), filled);
});
