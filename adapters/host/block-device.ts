import { constants, type FileHandle, open } from "node:fs/promises";
import { InfraError } from "./infra-error.ts";
import { hostReasons } from "./reasons.ts";

/**
 * Opens a block device or file for reading.
 * @param isExclusive while it is open, the device cannot be mounted or opened in the same way: O_EXCL of open(2)
 * @throws InfraError VOLUME_IN_USE, TOOL_FAILED
 */
export function openSourceDevice(device: string, isExclusive = false): Promise<FileHandle> {
  return openDevice(device, constants.O_RDONLY | (isExclusive ? constants.O_EXCL : 0));
}

/**
 * Opens a block device or file for writing, exclusively, without creating or truncating it.
 * @throws InfraError VOLUME_IN_USE, TOOL_FAILED
 */
export function openTargetDevice(device: string): Promise<FileHandle> {
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
  throw new InfraError(hostReasons.TOOL_FAILED, `${device} is neither a block device nor a file`);
}

function errorFromOpen(device: string, cause: unknown): InfraError {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown";
  if (code === "EBUSY") {
    return new InfraError(hostReasons.VOLUME_IN_USE, `${device} is in use`, { cause });
  }
  return new InfraError(hostReasons.TOOL_FAILED, `${device} cannot be opened (${code})`, { cause });
}
