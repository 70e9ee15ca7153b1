import { test } from "tap";
import type { LvmDeviceStep } from "../../../adapters/lvm/device-adapter.ts";
import { errorFromDeviceStep } from "../../../adapters/lvm/device-errors.ts";

const at = { volumeGroupName: "pool", path: "/dev/vdb" } as const;
const add: LvmDeviceStep = { kind: "addDevices", volumeGroupName: "pool", paths: ["/dev/vdb"] };
const move: LvmDeviceStep = { kind: "moveAway", ...at };
const take: LvmDeviceStep = { kind: "takeDevice", ...at };
const free: LvmDeviceStep = { kind: "freeDevice", ...at };

/** Output of lvm2 2.03.16, on loop devices and on a machine with device-mapper. */
const recorded: readonly (readonly [LvmDeviceStep, number, string, string | undefined])[] = [
  [
    add,
    5,
    "WARNING: ext4 signature detected on /dev/loop1 at offset 1080. Wipe it? [y/n]: [n]\n  Aborted wiping of ext4.\n  1 existing signature left on the device.",
    "DEVICE_NOT_USABLE",
  ],
  [
    add,
    5,
    "  Can't open /dev/loop2 exclusively.  Mounted filesystem?\n  Error opening device /dev/loop2 for reading at 0 length 4096.\n  Cannot use /dev/loop2: device has a signature",
    "DEVICE_NOT_USABLE",
  ],
  [
    add,
    5,
    "  Physical volume '/dev/loop1' is already in volume group 'hv-e'\n  Unable to add physical volume '/dev/loop1' to volume group 'hv-e'\n  /dev/loop1: physical volume not initialized.",
    "DEVICE_NOT_USABLE",
  ],
  [add, 5, "  No device found for /dev/nonexist.", "DEVICE_NOT_USABLE"],
  [add, 5, '  Volume group "nogroup" not found\n  Cannot process volume group nogroup', "VOLUME_GROUP_GONE"],
  [take, 5, '  Physical volume "/dev/loop1" still in use', "POOL_CANNOT_SHRINK"],
  [take, 5, '  Failed to find physical volume "/dev/loop2".', "DEVICE_NOT_USABLE"],
  [free, 5, "  No PV found on device /dev/loop2.", "DEVICE_NOT_USABLE"],
  [
    free,
    5,
    "  PV /dev/loop2 is used by VG hv-e so please use vgreduce first.\n  (If you are certain you need pvremove, then confirm by using --force twice.)\n  /dev/loop2: physical volume label not removed.",
    "DEVICE_NOT_USABLE",
  ],
  [move, 5, "  No data to move for pool.", undefined],
  [
    move,
    5,
    "  Insufficient free space: 80 extents needed, but only 0 available\n  Unable to allocate mirror extents for pool/pvmove0.\n  Failed to convert pvmove LV to mirrored.",
    "POOL_CANNOT_SHRINK",
  ],
  [move, 5, "  something else", "TOOL_FAILED"],
  [
    { kind: "setAllocatable", ...at, allocatable: false },
    0,
    '  Physical volume "/dev/loop1" is already unallocatable.',
    undefined,
  ],
];

const resultOf = (exitCode: number, stderr: string, stdout = "") => ({
  argv: ["lvm"],
  exitCode,
  signal: null,
  stdout,
  stderr,
  durationMs: 1,
});

test("LVM's messages about devices are mapped to reasons", async (t) => {
  for (const [step, exitCode, stderr, reason] of recorded) {
    t.equal(errorFromDeviceStep(step, resultOf(exitCode, stderr))?.reason, reason, stderr);
  }
});

test("a move that could not begin or be aborted is a failure although pvmove exits with 0", async (t) => {
  // Output without device-mapper.
  const stdout = "  /dev/loop1: Interrupted: No longer active.\n";
  t.equal(errorFromDeviceStep(move, resultOf(0, "", stdout))?.reason, "TOOL_FAILED");
  t.equal(errorFromDeviceStep({ kind: "abortMove", ...at }, resultOf(0, "", stdout))?.reason, "TOOL_FAILED");
  t.equal(errorFromDeviceStep(move, resultOf(0, "", "  /dev/vdb: Moved: 100.00%\n")), undefined);
});

test("the error message leaves out the missing lvmpolld", async (t) => {
  const stderr = "  /run/lvm/lvmpolld.socket: connect failed: No such file or directory\n  bad luck";
  t.match(errorFromDeviceStep(move, resultOf(5, stderr))?.message, /: bad luck$/);
});
