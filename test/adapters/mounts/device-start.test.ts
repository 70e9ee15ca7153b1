import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "tap";
import { readDeviceStart } from "../../../adapters/mounts/device-start.ts";

test("only a device that can be read and begins with zeros is empty", async (t) => {
  const root = mkdtempSync(join(tmpdir(), "hostplane-device-"));
  t.teardown(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, "dev/vg0"), { recursive: true });
  const start = Buffer.alloc(8192);
  writeFileSync(join(root, "dev/dm-0"), start);
  // The magic number of ext4 is at this place.
  start.writeUInt16LE(0xef53, 1080);
  writeFileSync(join(root, "dev/dm-1"), start);
  writeFileSync(join(root, "dev/dm-2"), Buffer.concat([Buffer.alloc(4096), start]));
  for (const [index, expected] of ["zeros", "data", "zeros"].entries()) {
    symlinkSync(`../dm-${index}`, join(root, `dev/vg0/v${index}`));
    t.equal(await readDeviceStart(root, `/dev/vg0/v${index}`), expected);
  }
  for (const [device, code] of [
    ["/dev/vg0/none", "ENOENT"],
    ["/dev/vg0", "EISDIR"],
  ] as const) {
    await t.rejects(readDeviceStart(root, device), {
      name: "InfraError",
      reason: "TOOL_FAILED",
      message: `${device} cannot be read (${code})`,
    });
  }
});
