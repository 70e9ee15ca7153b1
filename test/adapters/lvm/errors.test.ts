import { test } from "tap";
import type { ToolResult } from "../../../adapters/host/process/tool-result.ts";
import type { LvmStep } from "../../../adapters/lvm/adapter.ts";
import { errorFromReadResult, errorFromStepResult } from "../../../adapters/lvm/errors.ts";

const at = { volumeGroupName: "vg0", name: "data" };
const create: LvmStep = { kind: "create", ...at, sizeBytes: 1n, tags: [] };
const resize: LvmStep = { kind: "resize", ...at, sizeBytes: 1n };
const deactivate: LvmStep = { kind: "deactivate", ...at };
const remove: LvmStep = { kind: "remove", ...at };
const rename: LvmStep = { kind: "rename", volumeGroupName: "vg0", name: "old", newName: "data" };
const changeTags: LvmStep = { kind: "changeTags", ...at, addTags: ["a"], removeTags: [] };
const snapshot: LvmStep = {
  kind: "snapshot",
  volumeGroupName: "vg0",
  name: "snap",
  originName: "data",
  tags: [],
  roomBytes: 1n,
};

function result(exitCode: number, stderr: string, stdout = ""): ToolResult {
  return { argv: ["lvm", "lvx", "--", "vg0/data"], exitCode, signal: null, stdout, stderr, durationMs: 1 };
}

const noDeviceMapper = "  WARNING: Activation disabled. No device-mapper interaction will be attempted.\n";
const missingPv =
  "  WARNING: Couldn't find device with uuid y82wUu-Cxum-DxWS-q5mc-AQuH-OEz6-hZQDjQ.\n" +
  "  WARNING: VG vg0 is missing PV y82wUu-Cxum-DxWS-q5mc-AQuH-OEz6-hZQDjQ (last written to /dev/loop2).\n";

/** Output of lvm2 2.03.16. */
const recorded: [LvmStep, number, string, string, RegExp][] = [
  [
    create,
    5,
    '  Logical Volume "data" already exists in volume group "vg0"\n',
    "VOLUME_EXISTS",
    /^Logical Volume "data"/,
  ],
  [
    create,
    5,
    `${noDeviceMapper}  Volume group "vg0" has insufficient free space (127 extents): 2560 required.\n`,
    "NO_SPACE",
    /^Volume group "vg0" has insufficient free space \(127 extents\): 2560 required\.$/,
  ],
  [
    create,
    5,
    "  Insufficient suitable allocatable extents for logical volume data: 2 more required\n",
    "NO_SPACE",
    /2 more/,
  ],
  [
    create,
    5,
    "  Volume too large (1.00 EiB) for extent size 4.00 MiB. Upper limit is less than <16.00 PiB.\n",
    "NO_SPACE",
    /too large/,
  ],
  [
    create,
    5,
    '  Volume group "vg0" not found\n  Cannot process volume group vg0\n',
    "VOLUME_GROUP_GONE",
    /^Volume group "vg0" not found$/,
  ],
  [create, 5, "  Volume group vg0 is exported\n", "VOLUME_GROUP_GONE", /exported/],
  [
    create,
    5,
    `${missingPv}  Cannot change VG vg0 while PVs are missing.\n  See vgreduce --removemissing and vgextend --restoremissing.\n  Cannot process volume group vg0\n`,
    "VOLUME_GROUP_GONE",
    /^Cannot change VG vg0 while PVs are missing\.$/,
  ],
  [create, 5, "  Pool pool not found in Volume group vg0.\n", "VOLUME_GROUP_GONE", /^Pool pool/],
  [
    create,
    3,
    '  Names including "_cdata" are reserved. Please choose a different LV name.\n  Run `lvcreate --help\' for more information.\n',
    "INVALID_FIELD",
    /^name: Names including "_cdata" are reserved/,
  ],
  [create, 3, '  Logical volume name "-x" is invalid.\n', "INVALID_FIELD", /^name: /],
  [
    create,
    5,
    '  Internal error: LV name "vg0/aaa" length 128 is not supported.\n',
    "INVALID_FIELD",
    /^name: /,
  ],
  [
    create,
    5,
    '  Name "vg0-a--a--" too long.\n  Failed to set device name for vg0-a--a--\n  Failed to activate new LV vg0/a-a-.\n',
    "INVALID_FIELD",
    /^name: /,
  ],
  [
    create,
    3,
    "  Invalid argument for --addtag: a b\n  Error during parsing of command line.\n",
    "INVALID_FIELD",
    /^tags: /,
  ],
  [create, 3, "  --size may not be zero.\n", "INVALID_FIELD", /^size_gb: /],
  [
    resize,
    5,
    "  Insufficient free space: 2557 extents needed, but only 123 available\n",
    "NO_SPACE",
    /2557 extents needed/,
  ],
  [
    resize,
    5,
    "  New size given (1 extents) not larger than existing size (3 extents)\n",
    "SHRINK_NOT_ALLOWED",
    /not larger/,
  ],
  [resize, 5, "  Logical volume data not found in volume group vg0.\n", "VOLUME_NOT_FOUND", /not found/],
  [
    resize,
    5,
    "  Snapshot origin volumes can be resized only while inactive: try lvchange -an.\n",
    "VOLUME_PROTECTED",
    /only while inactive/,
  ],
  [deactivate, 5, '  Failed to find logical volume "vg0/data"\n', "VOLUME_NOT_FOUND", /Failed to find/],
  [deactivate, 5, "  Logical volume vg0/data in use.\n", "VOLUME_IN_USE", /in use/],
  [deactivate, 5, "  Logical volume vg0/data contains a filesystem in use.\n", "VOLUME_IN_USE", /filesystem/],
  [
    deactivate,
    5,
    "  Logical volume vg0/data-snap in use.\n  LV vg0/data has open 1 snapshot(s), not deactivating.\n",
    "VOLUME_IN_USE",
    /open 1 snapshot/,
  ],
  [remove, 5, "  Logical volume vg0/data contains a filesystem in use.\n", "VOLUME_IN_USE", /filesystem/],
  [
    create,
    5,
    "  WARNING: Thin pool vg0/pool is out of data space.\n  Cannot create new thin volume, free space in thin pool vg0/pool reached threshold.\n",
    "NO_SPACE",
    /free space in thin pool/,
  ],
  [
    create,
    5,
    '  device-mapper: message ioctl on  (253:3) failed: Device or resource busy\n  Failed to process message "delete 1".\n',
    "TOOL_FAILED",
    /exit code 5: device-mapper: message ioctl/,
  ],
  [
    snapshot,
    5,
    "  Snapshot origin LV data not found in Volume group vg0.\n",
    "VOLUME_NOT_FOUND",
    /data not found/,
  ],
  [snapshot, 5, "  Snapshots of snapshots are not supported.\n", "VOLUME_PROTECTED", /of snapshots/],
  [
    snapshot,
    5,
    "  Snapshots of thin pool type volumes are not supported.\n",
    "VOLUME_PROTECTED",
    /thin pool/,
  ],
  [
    snapshot,
    5,
    '  Volume group "vg0" has insufficient free space (5 extents): 16 required.\n',
    "NO_SPACE",
    /16 required/,
  ],
  [
    snapshot,
    5,
    "  Insufficient suitable allocatable extents found for logical volume snap.\n",
    "NO_SPACE",
    /Insufficient suitable/,
  ],
  [snapshot, 5, "  Please specify either size or extents with snapshots.\n", "TOOL_FAILED", /either size/],
  [
    { ...snapshot, name: "data" },
    5,
    '  Logical Volume "data" already exists in volume group "vg0"\n',
    "VOLUME_EXISTS",
    /already exists/,
  ],
  [
    rename,
    5,
    '  Logical Volume "data" already exists in volume group "vg0"\n',
    "VOLUME_EXISTS",
    /already exists/,
  ],
  [
    { ...rename, name: "data", newName: "new" },
    5,
    '  Existing logical volume "data" not found in volume group "vg0"\n',
    "VOLUME_NOT_FOUND",
    /^Existing logical volume/,
  ],
  [
    rename,
    3,
    "  Old and new logical volume names must differ\n  Run `lvrename --help' for more information.\n",
    "INVALID_FIELD",
    /^name: /,
  ],
  [changeTags, 5, '  Failed to find logical volume "vg0/data"\n', "VOLUME_NOT_FOUND", /Failed to find/],
  [
    changeTags,
    3,
    "  Invalid argument for --deltag: a@b\n  Error during parsing of command line.\n",
    "INVALID_FIELD",
    /^tags: /,
  ],
  [
    deactivate,
    5,
    "Change of snapshot vg0/data will also change its origin vg0/origin. Proceed? [y/n]: [n]\n  Logical volume vg0/data not changed.\n",
    "VOLUME_PROTECTED",
    /will also change its origin/,
  ],
  [create, 127, "env: 'lvm': No such file or directory\n", "TOOL_MISSING", /No such file/],
  [create, 5, "", "TOOL_FAILED", /no error message$/],
];

test("each of lvm's complaints has its reason and keeps lvm's message", (t) => {
  for (const [step, exitCode, stderr, reason, message] of recorded) {
    const error = errorFromStepResult(step, result(exitCode, stderr));
    t.equal(error?.reason, reason, stderr);
    t.match(error?.message, message);
    t.notMatch(error?.message, /WARNING|Run `|Cannot process/);
    if (reason.startsWith("VOLUME_")) {
      t.equal(error?.resource, "volumeGroups/vg0/volumes/data");
    }
  }
  t.end();
});

test("success is no error, and neither is a resize to the present size", (t) => {
  t.equal(
    errorFromStepResult(create, result(0, "  WARNING: Logical volume vg0/data not zeroed.\n")),
    undefined,
  );
  const same = "  New size (3 extents) matches existing size (3 extents).\n";
  t.equal(errorFromStepResult(resize, result(5, same)), undefined);
  t.equal(
    errorFromStepResult(remove, result(0, "", '  Logical volume "data" successfully removed.\n')),
    undefined,
  );
  t.end();
});

test("a removal that lvm skipped silently is VOLUME_PROTECTED", (t) => {
  t.equal(errorFromStepResult(remove, result(0, ""))?.reason, "VOLUME_PROTECTED");
  t.match(errorFromStepResult({ kind: "removeThinPool", ...at }, result(0, "")), {
    reason: "VOLUME_PROTECTED",
    message: "vg0/data contains volumes or is not a thin pool, so LVM did not remove it",
  });
  t.end();
});

test("a group that cannot be locked is not considered gone", (t) => {
  const words =
    "  /run/lock/lvm/V_vg0: flock failed: Resource temporarily unavailable\n  Can't get lock for vg0.\n  Cannot process volume group vg0\n";
  t.equal(errorFromStepResult(create, result(5, words))?.reason, "TOOL_FAILED");
  t.end();
});

test("the error of a tool ended by a signal names the signal", (t) => {
  const error = errorFromStepResult(create, { ...result(0, ""), exitCode: null, signal: "SIGSEGV" });
  t.equal(error?.reason, "TOOL_FAILED");
  t.match(error?.message, "SIGSEGV");
  t.end();
});

test("a read during which a group was removed succeeds, any other failed read is an error", (t) => {
  t.equal(errorFromReadResult(result(0, noDeviceMapper)), undefined);
  t.equal(
    errorFromReadResult(result(5, '  Volume group "x" not found\n  Cannot process volume group x\n')),
    undefined,
  );
  const locked =
    "  /run/lock/lvm/V_vg0: flock failed: Resource temporarily unavailable\n  Can't get lock for vg0.\n  Cannot process volume group vg0\n";
  t.match(errorFromReadResult(result(5, locked)), {
    reason: "TOOL_FAILED",
    message: /Can't get lock for vg0/,
  });
  const goneAndLocked = `  Volume group "x" not found\n  Cannot process volume group x\n${locked}`;
  t.equal(errorFromReadResult(result(5, goneAndLocked))?.reason, "TOOL_FAILED", "one group of each kind");
  const denied = "  /run/lock/lvm/P_global:aux: open failed: Permission denied\n";
  t.match(errorFromReadResult(result(5, denied)), { reason: "TOOL_FAILED", message: /Permission denied/ });
  t.end();
});
