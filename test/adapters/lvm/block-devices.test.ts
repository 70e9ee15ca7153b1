import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Test, test } from "tap";
import { watchBlockDevices } from "../../../adapters/lvm/block-devices.ts";
import { isBlockDeviceChange, openKernelEvents } from "../../../adapters/lvm/kernel-events.ts";

const header = "major minor  #blocks  name\n\n";
const disk = " 254        0   10485760 vda\n";
const mapper = " 253        0    1048576 dm-0\n";

/** A list of devices, a watch of it, and what it has reported. */
async function startWatch(t: Test, againMs: number) {
  const path = join(t.testdir({ partitions: header + disk }), "partitions");
  const reported: number[] = [];
  const watch = watchBlockDevices({
    path,
    // Those of this machine are none of the test's.
    openEvents: () => {
      throw new Error("there are none here");
    },
    pollMs: 10,
    againMs,
    onChange: () => reported.push(performance.now()),
  });
  t.teardown(() => watch.close());
  await watch.ready;
  return { reported, write: (...lines: string[]) => writeFileSync(path, header + lines.join("")) };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) {
    await sleep(5);
  }
}

test("a device that comes, goes or grows is reported", async (t) => {
  const { reported, write } = await startWatch(t, 600_000);
  for (const lines of [[disk, " 254 16 1 vdb\n"], [disk, " 254 16 2 vdb\n"], [disk]]) {
    const before = reported.length;
    write(...lines);
    await until(() => reported.length > before);
  }
  t.pass("each of them");
});

test("a change is reported once more, when udev has made the node", async (t) => {
  const { reported, write } = await startWatch(t, 50);
  write(disk, " 254 16 1 vdb\n");
  await until(() => reported.length === 2);
  const [first = 0, second = 0] = reported;
  t.ok(second - first >= 45);
});

test("devices of device-mapper are left to the watch of /dev/mapper", async (t) => {
  const { reported, write } = await startWatch(t, 600_000);
  write(disk, mapper);
  await sleep(50);
  t.same(reported, []);
  write(mapper);
  await until(() => reported.length === 1);
  t.pass("the disk beside them is not");
});

test("a device that is replaced by one of the same name and size is reported by the kernel's event", async (t) => {
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
  t.equal(reports, 1, "neither udev, device-mapper nor another subsystem");
  watch.close();
  t.ok(isClosed);
});

const skipEvents = process.platform !== "linux" && "only Linux has netlink";

test("the kernel's queue of events is emptied without waiting", { skip: skipEvents }, async (t) => {
  const events = openKernelEvents();
  t.type(events.drain(), "boolean");
  events.close();
});
