import { test } from "tap";
import { commandOf } from "../../../adapters/mounts/commands.ts";

test("a read-only bind mount repeats the flags, which mount would drop", async (t) => {
  const bind = {
    kind: "bind",
    source: "/csi/staging",
    path: "/csi/pods/a",
    flags: ["nosuid", "noexec"],
  } as const;
  t.same(commandOf({ ...bind, readOnly: true }), [
    "mount",
    ...["--options", "bind,ro,nosuid,noexec", "--", "/csi/staging", "/csi/pods/a"],
  ]);
  t.same(commandOf({ ...bind, readOnly: false }), [
    "mount",
    ...["--options", "bind", "--", "/csi/staging", "/csi/pods/a"],
  ]);
});

test("XFS is mounted although another volume has its UUID", async (t) => {
  const mount = { kind: "mount", device: "/dev/vg0/a", path: "/csi/staging" } as const;
  t.equal(commandOf({ ...mount, fileSystem: "xfs", flags: ["noatime"] })[4], "nouuid,noatime");
  t.equal(commandOf({ ...mount, fileSystem: "ext4", flags: [] })[4], "defaults");
});
