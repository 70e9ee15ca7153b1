import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { promisify } from "node:util";
import { createLvm } from "../../../adapters/lvm/lvm.ts";

const extent = 4n << 20n;

async function type(command: string): Promise<string> {
  return (await promisify(execFile)("sh", ["-ec", command])).stdout;
}

/**
 * Interrupts a move and deactivates its group, which is the state after a reboot, then aborts the move.
 * @throws AssertionError
 */
async function checkInactiveMove(): Promise<void> {
  // The kernel must not complete the move before it is interrupted.
  await type("modprobe dm_mirror; echo 0 >/sys/module/dm_mirror/parameters/raid1_resync_throttle");
  await type(
    "vgcreate -q moving /dev/vdc; lvcreate -q -y -n data -L 40m moving; vgextend -q moving /dev/vdd",
  );
  const move = spawn("lvm", ["pvmove", "--interval", "60", "/dev/vdc"], { stdio: "ignore" });
  const ended = once(move, "exit");
  while (!(await type("lvs -a --noheadings -o lv_name -S lv_active=active moving")).includes("pvmove")) {
    assert.equal(move.exitCode, null, "the move runs");
  }
  move.kill("SIGKILL");
  await ended;
  await type("vgchange -q -an moving");

  const lvm = createLvm();
  await lvm.runOnDevices({ kind: "abortMove", volumeGroupName: "moving", path: "/dev/vdc" });
  const { physicalVolumes } = (await lvm.read()).value;
  await lvm.close();
  assert.doesNotMatch(await type("lvs -a --noheadings -o lv_name moving"), /pvmove/);
  const used = physicalVolumes.filter(({ volumeGroupName }) => volumeGroupName === "moving");
  // The resumed move may have ended before it was aborted.
  assert.equal(
    used.reduce((sum, { usedBytes }) => sum + usedBytes, 0n),
    10n * extent,
  );
  await type("echo 100 >/sys/module/dm_mirror/parameters/raid1_resync_throttle; vgck moving");
  await type("vgremove -q -f moving; pvremove -q /dev/vdc /dev/vdd");
}

// A program for the virtual machine: node test/lab/vm/inactive-move-on-dm.ts
await checkInactiveMove();
