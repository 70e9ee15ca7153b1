import { type Test, test } from "tap";
import type { LvmAdapter } from "../../../adapters/lvm/adapter.ts";
import type { LvmDeviceStep, PhysicalVolume } from "../../../adapters/lvm/device-adapter.ts";
import { reasonOf } from "../host/reason-of.ts";

/** An adapter with an empty volume group on one device, and spare devices; each has 50 extents of 4 MiB. */
export interface DeviceContractSubject {
  readonly lvm: LvmAdapter;
  readonly volumeGroupName: string;
  /** Three of them; the last one is in use. */
  readonly spares: readonly string[];
  /** Whether volumes get block devices here; without them no data can be moved. */
  readonly activates: boolean;
}

const extent = 4n << 20n;
const deviceBytes = 50n * extent;

/** Registers the tests about devices of volume groups that every LvmAdapter must pass. */
export function testDeviceContract(
  kind: string,
  makeSubject: (t: Test) => Promise<DeviceContractSubject>,
): void {
  function deviceTest(behaviour: string, body: (t: Test, subject: Subject) => Promise<void>): void {
    test(`${kind}: ${behaviour}`, async (t) => {
      const subject = await makeSubject(t);
      t.teardown(() => subject.lvm.close());
      await body(t, withState(subject));
    });
  }

  deviceTest("reports the devices of a group, and the facts of a device", async (t, subject) => {
    const { lvm, spares, devices, volumeGroupName } = subject;
    const [own, ...others] = await devices();
    t.strictSame(others, []);
    t.match(own, {
      volumeGroupName,
      sizeBytes: deviceBytes,
      usedBytes: 0n,
      allocatable: true,
      missing: false,
    });
    t.ok(own?.device);
    const facts = await lvm.devices([
      spares[0] ?? "",
      spares[2] ?? "",
      own?.path ?? "",
      "/dev/no-such-device",
    ]);
    const [free, taken, marked, absent] = facts;
    t.match(free, { path: spares[0], sizeBytes: deviceBytes + (1n << 20n), obstacles: [] });
    t.strictSame(taken?.obstacles, ["it contains ext4"]);
    t.strictSame(marked?.device, own?.device);
    t.strictSame(marked?.obstacles, ["it is already an LVM physical volume"]);
    t.match(absent, {
      node: undefined,
      device: undefined,
      sizeBytes: 0n,
      obstacles: ["it does not exist"],
    });
  });

  deviceTest("adds all devices or none, and only free ones", async (t, subject) => {
    const { spares, devices, add, group } = subject;
    const [first = "", second = "", taken = ""] = spares;
    t.equal(await reasonOf(add(first, taken)), "DEVICE_NOT_USABLE");
    t.equal(await reasonOf(add(first, "/dev/no-such-device")), "DEVICE_NOT_USABLE");
    t.equal(await reasonOf(add("/dev/null")), "DEVICE_NOT_USABLE");
    t.equal((await devices()).length, 1, "nothing was added");
    await add(first, second);
    t.equal((await devices()).length, 3);
    t.match(await group(), { sizeBytes: 3n * deviceBytes, freeBytes: 3n * deviceBytes });
    t.equal(await reasonOf(add(first)), "DEVICE_NOT_USABLE", "it is already in the group");
  });

  deviceTest("a striped volume uses whole extents of several devices", async (t, subject) => {
    const { lvm, spares, add, devices, volumeGroupName } = subject;
    const create = (name: string, sizeBytes: bigint, stripes: number) =>
      lvm.run({
        kind: "create",
        volumeGroupName,
        name,
        sizeBytes,
        tags: [],
        options: ["--stripes", String(stripes), "--stripesize", "64k"],
      });
    await add(spares[0] ?? "");
    await create("data", 3n * extent, 2);
    const { value } = await lvm.read();
    t.equal(value.volumes.find(({ name }) => name === "data")?.sizeBytes, 4n * extent, "two on each");
    t.same(
      (await devices()).map(({ usedBytes }) => usedBytes),
      [2n * extent, 2n * extent],
    );
    t.equal(await reasonOf(create("more", extent, 3)), "NO_SPACE");
    t.equal((await lvm.read()).value.volumes.length, 1);
  });

  deviceTest("a striped volume continues on other devices when one is full", async (t, subject) => {
    const { lvm, spares, add, devices, setAllocatable, volumeGroupName } = subject;
    const create = (name: string, extents: bigint, options: readonly string[] = []) =>
      lvm.run({ kind: "create", volumeGroupName, name, sizeBytes: extents * extent, tags: [], options });
    await add(...spares.slice(0, 2));
    const paths = (await devices()).map(({ path }) => path);
    // Leaves 30, 20 and 50 extents: 30 on two devices, then 20 on two.
    for (const [index, used] of [20n, 30n].entries()) {
      for (const path of paths) {
        await setAllocatable(path, path === paths[index]);
      }
      await create(`used-${index}`, used);
    }
    for (const path of paths) {
      await setAllocatable(path, true);
    }
    const striped = ["--stripes", "2"];
    t.equal(await reasonOf(create("more", 102n, striped)), "NO_SPACE");
    await create("most", 100n, striped);
    const { value } = await lvm.read();
    t.same(value.volumes.find(({ name }) => name === "most")?.devicePaths, [...paths].sort());
    t.equal(value.volumeGroups[0]?.freeBytes, 0n);
  });

  deviceTest("an empty device is removed from its group and freed", async (t, subject) => {
    const { lvm, spares, devices, add, run, group } = subject;
    const [first = ""] = spares;
    await add(first);
    t.equal(await reasonOf(run("freeDevice", first)), "DEVICE_NOT_USABLE", "it belongs to the group");
    await run("takeDevice", first);
    t.equal((await devices()).find(({ path }) => path === first)?.volumeGroupName, undefined);
    t.equal(await reasonOf(run("takeDevice", first)), "DEVICE_NOT_USABLE");
    t.equal(await reasonOf(subject.add(first)), "DEVICE_NOT_USABLE", "it is still a physical volume");
    await run("freeDevice", first);
    t.equal(await reasonOf(run("freeDevice", first)), "DEVICE_NOT_USABLE");
    t.strictSame((await lvm.devices([first]))[0]?.obstacles, []);
    t.equal((await group()).sizeBytes, deviceBytes);
    await add(first);
  });

  deviceTest("a device marked by an earlier run of the step can be added", async (t, subject) => {
    const { lvm, spares, devices, add, run, volumeGroupName } = subject;
    const [first = "", second = "", taken = ""] = spares;
    await add(first);
    // The state after a vgextend that was interrupted between marking the device and committing the group.
    await run("takeDevice", first);
    const again = (...paths: string[]) =>
      lvm.runOnDevices({ kind: "addDevices", volumeGroupName, paths, isRepeated: true });
    t.equal(await reasonOf(again(first, taken)), "DEVICE_NOT_USABLE", "a device in use is refused");
    await again(first, second);
    const inGroup = (await devices()).filter((one) => one.volumeGroupName === volumeGroupName);
    t.equal(inGroup.length, 3);
    t.equal(await reasonOf(again(second)), "DEVICE_NOT_USABLE", "it belongs to the group");
  });

  deviceTest("neither the last device nor one in use can be removed", async (t, subject) => {
    const { lvm, spares, devices, add, run, volumeGroupName } = subject;
    const own = (await devices())[0]?.path ?? "";
    t.equal(await reasonOf(run("takeDevice", own)), "POOL_CANNOT_SHRINK");
    await add(spares[0] ?? "");
    await lvm.run({ kind: "create", volumeGroupName, name: "data", sizeBytes: extent, tags: [] });
    const used = (await devices()).find(({ usedBytes }) => usedBytes > 0n);
    t.equal(used?.usedBytes, extent);
    t.equal(await reasonOf(run("takeDevice", used?.path ?? "")), "POOL_CANNOT_SHRINK");
    t.equal((await devices()).length, 2);
  });

  deviceTest("nothing new is allocated on a device that is not allocatable", async (t, subject) => {
    const { lvm, spares, devices, add, setAllocatable, volumeGroupName } = subject;
    await add(spares[0] ?? "");
    const own = (await devices()).find(({ path }) => path !== spares[0])?.path ?? "";
    await setAllocatable(own, false);
    await setAllocatable(own, false);
    await lvm.run({ kind: "create", volumeGroupName, name: "data", sizeBytes: extent, tags: [] });
    t.match(
      (await devices()).find(({ path }) => path === own),
      { allocatable: false, usedBytes: 0n },
    );
    const more = {
      kind: "create",
      volumeGroupName,
      name: "more",
      sizeBytes: 50n * extent,
      tags: [],
    } as const;
    t.equal(await reasonOf(lvm.run(more)), "NO_SPACE");
    await setAllocatable(own, true);
    await lvm.run(more);
  });

  deviceTest("moves data that is in use, where supported", async (t, subject) => {
    const { lvm, spares, devices, add, run, setAllocatable, volumeGroupName, activates } = subject;
    const own = (await devices())[0]?.path ?? "";
    await lvm.run({ kind: "create", volumeGroupName, name: "data", sizeBytes: 3n * extent, tags: [] });
    t.equal(await reasonOf(run("moveAway", own)), "POOL_CANNOT_SHRINK", "there is no other device");
    await add(spares[0] ?? "");
    if (!activates) {
      t.equal(await reasonOf(run("moveAway", own)), "POOL_CANNOT_SHRINK");
      t.equal((await devices()).find(({ path }) => path === own)?.usedBytes, 3n * extent);
      return;
    }
    await setAllocatable(own, false);
    const percents: number[] = [];
    const step: LvmDeviceStep = { kind: "moveAway", volumeGroupName, path: own };
    await lvm.runOnDevices(step, { onPercent: (percent) => percents.push(percent) });
    t.equal((await devices()).find(({ path }) => path === own)?.usedBytes, 0n);
    t.equal((await devices()).find(({ path }) => path === spares[0])?.usedBytes, 3n * extent);
    t.equal(percents.at(-1), 100);
    await run("moveAway", own);
    await run("abortMove", own);
    await run("takeDevice", own);
    await run("freeDevice", own);
    t.match((await lvm.read()).value.volumes, [{ name: "data", active: true, health: "ok" }]);
  });

  deviceTest("a missing group is VOLUME_GROUP_GONE", async (t, { lvm, spares }) => {
    const [path = ""] = spares;
    const step: LvmDeviceStep = { kind: "addDevices", volumeGroupName: "no-such-group", paths: [path] };
    t.equal(await reasonOf(lvm.runOnDevices(step)), "VOLUME_GROUP_GONE");
    t.strictSame((await lvm.devices([path]))[0]?.obstacles, []);
  });

  deviceTest("each step can be shown as a command before it runs", async (t, { lvm, volumeGroupName }) => {
    const argv = lvm.commandOf({ kind: "addDevices", volumeGroupName, paths: ["/dev/a", "/dev/b"] });
    t.strictSame(argv.slice(-4), ["--", volumeGroupName, "/dev/a", "/dev/b"]);
    t.ok(argv.includes("vgextend"));
    t.notOk(argv.some((word) => /^(-y|--yes|-f|--force)/.test(word)));
  });
}

interface Subject extends DeviceContractSubject {
  /** Returns the devices of this group, and those in no group. */
  devices(): Promise<readonly PhysicalVolume[]>;
  group(): Promise<unknown & { readonly sizeBytes: bigint }>;
  add(...paths: string[]): Promise<void>;
  setAllocatable(path: string, allocatable: boolean): Promise<void>;
  run(kind: "moveAway" | "abortMove" | "takeDevice" | "freeDevice", path: string): Promise<void>;
}

function withState(subject: DeviceContractSubject): Subject {
  const { lvm, volumeGroupName } = subject;
  return {
    ...subject,
    devices: async () => (await lvm.read()).value.physicalVolumes,
    async group() {
      const group = (await lvm.read()).value.volumeGroups.find(({ name }) => name === volumeGroupName);
      if (group === undefined) {
        throw new Error(`${volumeGroupName} is not there`);
      }
      return group;
    },
    add: (...paths) => lvm.runOnDevices({ kind: "addDevices", volumeGroupName, paths }),
    setAllocatable: (path, allocatable) =>
      lvm.runOnDevices({ kind: "setAllocatable", volumeGroupName, path, allocatable }),
    run: (kind, path) => lvm.runOnDevices({ kind, volumeGroupName, path }),
  };
}
