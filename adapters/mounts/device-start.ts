import { constants } from "node:fs";
import { open, readlink } from "node:fs/promises";
import { posix } from "node:path";
import { InfraError } from "../host/infra-error.ts";
import { hostReasons } from "../host/reasons.ts";

/** What the beginning of a block device is. */
export type DeviceStart = "busy" | "zeros" | "data";

/** LVM zeroes this much of a new volume (lvcreate(8), `--zero`); the superblocks of ext4 and XFS are in it. */
const startBytes = 4096;

/**
 * Opens a device exclusively, which fails while it is mounted in any namespace, and reads its beginning.
 * @param root directory that stands for `/` of the host
 * @throws InfraError TOOL_FAILED if it cannot be opened or read
 */
export async function readDeviceStart(root: string, device: string): Promise<DeviceStart> {
  try {
    // LVM's links are relative, so they also lead to the node below another root.
    const target = await readlink(root + device).catch(() => undefined);
    const node = target === undefined ? device : posix.resolve(posix.dirname(device), target);
    const flags = constants.O_RDONLY | constants.O_EXCL | constants.O_NONBLOCK;
    const handle = await open(root + node, flags);
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(startBytes), 0, startBytes, 0);
      return buffer.subarray(0, bytesRead).every((byte) => byte === 0) ? "zeros" : "data";
    } finally {
      await handle.close();
    }
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "EBUSY") {
      return "busy";
    }
    throw new InfraError(hostReasons.TOOL_FAILED, `${device} cannot be read (${code})`, { cause: error });
  }
}
