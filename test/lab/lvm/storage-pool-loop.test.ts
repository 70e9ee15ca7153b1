import { constants } from "node:fs";
import { open, symlink } from "node:fs/promises";
import { join } from "node:path";
import tap, { type Test, test } from "tap";
import { run } from "../../../adapters/host/process/run.ts";
import { createLvm } from "../../../adapters/lvm/lvm.ts";
import { createVolumeGroupPool } from "../../../server/domains/hypervisors/pool/volume-group-pool.ts";
import { reasonOf } from "../../adapters/host/reason-of.ts";
import { makeLoopVolumeGroups, reasonToSkip } from "./loop-volume-group.ts";

const skip = (await reasonToSkip()) ?? false;
const extent = 4n << 20n;
const deviceBytes = 50n * extent;

tap.setTimeout(300_000);

/** Creates a group on a loop device, and three spares that are configured as links, like those in /dev/disk/by-id. */
async function makePool(t: Test) {
  const { names, options, spares, shell } = await makeLoopVolumeGroups(t, 1, 50, 3);
  const links = spares.map((_, index) => join(t.testdirName, `spare-${index}`));
  t.testdir({});
  for (const [index, link] of links.entries()) {
    await symlink(spares[index] ?? "", link);
  }
  const lvm = createLvm(options);
  t.teardown(() => lvm.close());
  const [volumeGroup = ""] = names;
  const canMove = options.activation === "auto";
  const pool = createVolumeGroupPool({ lvm, volumeGroup, devices: links, canMove });
  return { pool, links, spares, shell, volumeGroup, identity: (await pool.read()).value.identity };
}

test("a real group grows by spare devices, and releases those without data", { skip }, async (t) => {
  const { pool, links, identity } = await makePool(t);
  const { devices: chosen } = await pool.planExpand(deviceBytes + 1n);
  t.strictSame(chosen, links.slice(0, 2));
  t.equal(await pool.add(identity, chosen), 2n * deviceBytes);
  const { value } = await pool.read();
  t.equal(value.sizeBytes, 3n * deviceBytes);
  t.strictSame(
    // LVM lists them, and the group's first device, in the order of their names: loop10 before loop9.
    value.devices
      .map(({ path }) => path)
      .filter((path) => links.includes(path))
      .toSorted(),
    chosen,
    "listed by the paths in the configuration",
  );

  const plan = await pool.planShrink(2n * deviceBytes);
  const leaving = await pool.leaving(identity, plan.devices);
  await pool.reserve(identity, leaving, true);
  await pool.moveAway(identity, leaving, new AbortController().signal, () => {});
  await pool.remove(identity, leaving);
  t.equal((await pool.read()).value.sizeBytes, deviceBytes);
  t.strictSame(
    (await pool.read()).value.spares.map(({ unusable }) => unusable),
    ["", "", ""],
  );
  await pool.putBack(identity, leaving);
  t.equal((await pool.read()).value.sizeBytes, 3n * deviceBytes);
  await pool.takeBack(identity, chosen);
  t.equal((await pool.read()).value.sizeBytes, deviceBytes);
});

test("a device that is in use or has content is never taken", { skip }, async (t) => {
  const { pool, links, spares, identity, shell } = await makePool(t);
  const [first = "", second = ""] = links;
  const created = await run(["mkfs.ext4", "-q", spares[1] ?? ""], { kind: "mutate" });
  t.equal(created.exitCode, 0, created.stderr);
  t.equal((await pool.read(undefined, performance.now())).value.spares[1]?.unusable, "it contains ext4");
  t.equal(await reasonOf(pool.add(identity, [first, second])), "DEVICE_NOT_USABLE");

  const claim = await open(first, constants.O_RDONLY | constants.O_EXCL);
  await t.rejects(pool.add(identity, [first]), { message: /it is in use/ });
  await claim.close();
  t.match(
    await shell("pvs", "--noheadings", "-o", "pv_name"),
    /^\s*\/dev\/loop\d+\s*$/,
    "nothing was written to it",
  );
  const kept = await run(["wipefs", "--no-act", "--json", spares[1] ?? ""], { kind: "read" });
  t.match(kept.stdout, /ext4/);
  await pool.add(identity, [first]);
});

test("without device-mapper, a device with data stays", { skip }, async (t) => {
  const { pool, links, identity, shell, volumeGroup, spares } = await makePool(t);
  const [first = ""] = links;
  await pool.add(identity, [first]);
  const volume = ["-an", "-Zn", "-Wn", "-L", "4m", "-n", "data", volumeGroup, spares[0] ?? ""];
  await shell("lvcreate", ...volume);
  const canMove = (await run(["lvm", "version"], { kind: "read" })).stdout.includes("Driver version");
  const planned = await reasonOf(pool.planShrink(deviceBytes));
  t.equal(planned, canMove ? undefined : "POOL_CANNOT_SHRINK");
});
