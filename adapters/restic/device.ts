import { constants, type FileHandle, open } from "node:fs/promises";
import { InfraError } from "../host/infra-error.ts";

/**
 * Opens a block device or file for reading.
 * @throws InfraError TOOL_FAILED
 */
export function openSource(device: string): Promise<FileHandle> {
  return openDevice(device, constants.O_RDONLY);
}

/**
 * Opens a block device or file for writing; it is neither made nor cut. As long as it is open nobody can mount a device or
 * open it in the same way: O_EXCL of open(2).
 * @throws InfraError VOLUME_IN_USE, TOOL_FAILED
 */
export function openTarget(device: string): Promise<FileHandle> {
  return openDevice(device, constants.O_WRONLY | constants.O_EXCL);
}

async function openDevice(device: string, flags: number): Promise<FileHandle> {
  const handle = await open(device, flags).catch((cause: unknown) => {
    throw errorFromOpen(device, cause);
  });
  const stat = await handle.stat();
  if (stat.isBlockDevice() || stat.isFile()) {
    return handle;
  }
  await handle.close();
  throw new InfraError("TOOL_FAILED", `${device} is neither a block device nor a file`);
}

function errorFromOpen(device: string, cause: unknown): InfraError {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown";
  if (code === "EBUSY") {
    return new InfraError("VOLUME_IN_USE", `${device} is open`, { cause });
  }
  return new InfraError("TOOL_FAILED", `${device} cannot be opened (${code})`, { cause });
}
