import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Test, test } from "tap";
import { watchBlockDevices } from "../../../../adapters/lvm/watch/block-devices.ts";
import { isBlockDeviceChange, openKernelEvents } from "../../../../adapters/lvm/watch/kernel-events.ts";
import { until } from "../../../server/harness/until.ts";

const header = "major minor  #blocks  name\n\n";
const disk = " 254        0   10485760 vda\n";
const mapper = " 253        0    1048576 dm-0\n";

/** Starts a watch of a list of devices and collects its reports. */
async function startWatch(t: Test, againMs: number) {
  const path = join(t.testdir({ partitions: header + disk }), "partitions");
  const reported: number[] = [];
  const watch = watchBlockDevices({
    path,
    // The test must not depend on this machine's events.
    openEvents: () => {
      throw new Error("there are none here");
    },
    pollMs: 10,
    againMs,
    onChange: () => reported.push(performance.now()),
  });
  t.teardown(() => watch.close());
  await watch.ready;
  const write = (...lines: string[]) => {
    // A poll during a write would read a part of the list, which the kernel never shows.
    writeFileSync(`${path}.new`, header + lines.join(""));
    renameSync(`${path}.new`, path);
  };
  return { reported, write };
}

test("reports a device that is added, removed or resized", async (t) => {
  const { reported, write } = await startWatch(t, 600_000);
  for (const lines of [[disk, " 254 16 1 vdb\n"], [disk, " 254 16 2 vdb\n"], [disk]]) {
    const before = reported.length;
    write(...lines);
    await until(() => reported.length > before);
  }
  t.pass("each is reported");
});

test("reports a change a second time, after udev has created the node", async (t) => {
  const { reported, write } = await startWatch(t, 50);
  write(disk, " 254 16 1 vdb\n");
  await until(() => reported.length === 2);
  const [first = 0, second = 0] = reported;
  t.ok(second - first >= 45);
});

test("ignores device-mapper devices, which the watch of /dev/mapper covers", async (t) => {
  const { reported, write } = await startWatch(t, 600_000);
  write(disk, mapper);
  await sleep(50);
  t.same(reported, []);
  write(mapper);
  await until(() => reported.length === 1);
  t.pass("the disk is reported, the device-mapper device is not");
});

test("reports a device replaced by one of the same name and size, using kernel events", async (t) => {
  const path = join(t.testdir({ partitions: header + disk }), "partitions");
  const queue: string[] = [];
  let reports = 0;
  let isClosed = false;
  const watch = watchBlockDevices({
    path,
    openEvents: () => ({
      drain: () => queue.splice(0).some(isBlockDeviceChange),
      close: () => {
        isClosed = true;
      },
    }),
    pollMs: 10,
    againMs: 600_000,
    onChange: () => {
      reports += 1;
    },
  });
  await watch.ready;
  const variables = "SUBSYSTEM=block\0MAJOR=254\0MINOR=16\0DEVNAME=vdb\0";
  queue.push(`remove@/devices/pci0/block/vdb\0ACTION=remove\0${variables}`);
  queue.push(`add@/devices/pci0/block/vdb\0ACTION=add\0${variables}`);
  await until(() => reports === 1);
  queue.push(`change@/devices/pci0/block/vdb\0ACTION=change\0SYNTH_UUID=0\0${variables}`);
  queue.push("change@/devices/virtual/block/dm-1\0SUBSYSTEM=block\0DEVNAME=dm-1\0DM_COOKIE=1\0");
  queue.push("add@/devices/virtual/net/eth1\0SUBSYSTEM=net\0INTERFACE=eth1\0");
  await sleep(50);
  t.equal(reports, 1, "not events of udev, device-mapper or another subsystem");
  watch.close();
  t.ok(isClosed);
});

const skipEvents = process.platform !== "linux" && "only Linux has netlink";

test("drains the kernel's event queue without blocking", { skip: skipEvents }, async (t) => {
  const events = openKernelEvents();
  t.type(events.drain(), "boolean");
  events.close();
});
