import { test } from "tap";
import { createLvmSandbox } from "../../../../../adapters/lvm/sandbox.ts";
import { createVolumeGroupPool } from "../../../../../server/domains/hypervisors/pool/volume-group-pool.ts";
import { reasonOf } from "../../../../adapters/host/reason-of.ts";
import { createPool, createPoolLvm, devices, devicesOf, gib, spares } from "./pool-under-test.ts";

test("the pool reports its sizes, its devices and why a spare cannot be added", async (t) => {
  const lvm = createPoolLvm();
  const { value } = await createPool(lvm).read();
  t.match(value, {
    name: "pool",
    kind: "volumeGroup",
    sizeBytes: 10n * gib,
    usedBytes: 6n * gib,
    freeBytes: 4n * gib,
    devices: [{ path: "/dev/sandbox/a", sizeBytes: 10n * gib, usedBytes: 6n * gib, configured: true }],
  });
  t.strictSame(
    value.spares.map(({ path, unusable }) => [path, unusable]),
    [...spares.map((path) => [path, ""]), ["/dev/sandbox/taken", "it contains ext4"]],
  );
});

test("a device of another group, without a group or without space is unusable as a spare", async (t) => {
  const sizeBytes = gib;
  const lvm = createLvmSandbox({
    volumeGroups: [
      { name: "pool", sizeBytes: gib },
      { name: "other", sizeBytes: gib },
    ],
    spares: [
      { path: "/dev/a", sizeBytes },
      { path: "/dev/tiny", sizeBytes: 1000n },
    ],
  });
  await lvm.runOnDevices({ kind: "addDevices", volumeGroupName: "other", paths: ["/dev/a"] });
  const paths = ["/dev/sandbox/other", "/dev/a", "/dev/tiny", "/dev/none"];
  const pool = createVolumeGroupPool({ lvm, volumeGroup: "pool", devices: paths, canMove: true });
  const why = async () =>
    Object.fromEntries((await pool.read()).value.spares.map((one) => [one.path, one.unusable]));
  t.match(await why(), {
    "/dev/sandbox/other": "it is in the volume group other",
    "/dev/a": "it is in the volume group other",
    "/dev/tiny": "it is smaller than one extent",
    "/dev/none": "it does not exist",
  });
  await lvm.runOnDevices({ kind: "takeDevice", volumeGroupName: "other", path: "/dev/a" });
  t.match((await why())["/dev/a"], /without a group: free it with `pvremove \/dev\/a`/);
  t.equal(await reasonOf(pool.planExpand(1n)), "POOL_CANNOT_GROW");
});

test("a plan names the devices, the bytes and the commands", async (t) => {
  const lvm = createPoolLvm();
  const pool = createPool(lvm);
  t.match(await pool.planExpand(1n), { devices: ["/dev/sandbox/d"], bytes: 5n * gib });
  t.match(await pool.planExpand(5n * gib + 1n), { devices: ["/dev/sandbox/b"], bytes: 10n * gib });
  const { steps, devices: chosen } = await pool.planExpand(15n * gib);
  t.strictSame(chosen, ["/dev/sandbox/b", "/dev/sandbox/d"]);
  t.strictSame(steps, [
    { name: "add", command: ["lvm", "vgextend", "--", "pool", "/dev/sandbox/b", "/dev/sandbox/d"] },
  ]);
  t.strictSame((await devicesOf(lvm)).pool, ["/dev/sandbox/a"], "nothing was changed");
});

test("impossible changes are rejected with the sizes", async (t) => {
  const lvm = createPoolLvm();
  const pool = createPool(lvm);
  await t.rejects(pool.planExpand(35n * gib + 1n), {
    reason: "POOL_CANNOT_GROW",
    message:
      /provide 35 GiB .* at least 35 GiB .*requested. Not usable: \/dev\/sandbox\/taken: it contains ext4/,
  });
  await t.rejects(pool.planShrink(100n * gib), {
    reason: "POOL_CANNOT_SHRINK",
    message: /of 10 GiB .* 4 GiB .*one device must stay.*\/dev\/sandbox\/a has 10 GiB .*6 GiB .*in use/,
  });
  const absent = createVolumeGroupPool({ lvm, volumeGroup: "absent", devices, canMove: true });
  t.equal(await reasonOf(absent.read()), "VOLUME_GROUP_GONE");
  t.equal(await reasonOf(absent.planExpand(1n)), "VOLUME_GROUP_GONE");
});

test("devices that are not configured are neither added nor removed", async (t) => {
  const lvm = createPoolLvm();
  const pool = createVolumeGroupPool({
    lvm,
    volumeGroup: "pool",
    devices: ["/dev/sandbox/b"],
    canMove: true,
  });
  const { identity } = (await pool.read()).value;
  t.equal(await reasonOf(pool.add(identity, ["/dev/sandbox/c"])), "DEVICE_NOT_USABLE");
  await pool.add(identity, ["/dev/sandbox/b"]);
  t.match((await pool.read()).value.devices, [
    { path: "/dev/sandbox/a", configured: false },
    { path: "/dev/sandbox/b", configured: true },
  ]);
  t.strictSame(
    (await pool.planShrink(100n * gib)).devices,
    ["/dev/sandbox/b"],
    "although a has the same size",
  );
});

test("another group of the same name is never touched", async (t) => {
  const pool = createPool(createPoolLvm());
  t.equal(await reasonOf(pool.add("another-uuid", ["/dev/sandbox/b"])), "VOLUME_GROUP_GONE");
  t.equal(await reasonOf(pool.leaving("another-uuid", ["/dev/sandbox/a"])), "VOLUME_GROUP_GONE");
});

test("subscribers are notified when devices are added", async (t) => {
  const lvm = createPoolLvm();
  const pool = createPool(lvm);
  const { identity } = (await pool.read()).value;
  const received = Promise.withResolvers<void>();
  const unsubscribe = pool.subscribe(received.resolve);
  await pool.add(identity, ["/dev/sandbox/d"]);
  await received.promise;
  unsubscribe();
  t.equal((await pool.read()).value.devices.length, 2);
  t.equal((await pool.read()).value.sizeBytes, 15n * gib);
});
