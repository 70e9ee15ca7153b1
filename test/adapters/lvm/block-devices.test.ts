import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Test, test } from "tap";
import { watchBlockDevices } from "../../../adapters/lvm/block-devices.ts";

const header = "major minor  #blocks  name\n\n";
const disk = " 254        0   10485760 vda\n";
const mapper = " 253        0    1048576 dm-0\n";

/** A list of devices, a watch of it, and what it has reported. */
async function startWatch(t: Test, againMs: number) {
  const path = join(t.testdir({ partitions: header + disk }), "partitions");
  const reported: number[] = [];
  const watch = watchBlockDevices({
    path,
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
