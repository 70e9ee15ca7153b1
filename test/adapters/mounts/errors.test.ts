import { test } from "tap";
import { errorFromMountStep } from "../../../adapters/mounts/errors.ts";

const result = { argv: [], exitCode: 0, signal: null, stdout: "", stderr: "", durationMs: 0 };

test("a check accepts an ext4 that is clean or could be corrected, and refuses others", async (t) => {
  const check = { kind: "check", device: "/dev/vg0/a" } as const;
  // Output of e2fsck 1.47.0.
  const stdout = "/dev/vg0/a contains a file system with errors, check forced.\n";
  for (const exitCode of [0, 1, 2]) {
    t.equal(errorFromMountStep(check, { ...result, exitCode, stdout }), undefined);
  }
  const unexpected = "\n\n/dev/vg0/a: UNEXPECTED INCONSISTENCY; RUN fsck MANUALLY.\n";
  t.match(errorFromMountStep(check, { ...result, exitCode: 4, stdout: unexpected }), {
    reason: "TOOL_FAILED",
    message: /^\/dev\/vg0\/a has errors that are not corrected .*: \/dev\/vg0\/a: UNEXPECTED INCONSISTENCY/,
  });
});

test("a tool that finds a device in use is reported as such", async (t) => {
  const step = { kind: "unmount", path: "/csi/a" } as const;
  t.match(errorFromMountStep(step, { ...result, exitCode: 32, stderr: "umount: /csi/a: target is busy." }), {
    reason: "VOLUME_IN_USE",
  });
  t.match(errorFromMountStep(step, { ...result, exitCode: 32 }), {
    reason: "TOOL_FAILED",
    message: /it ended with 32/,
  });
});
