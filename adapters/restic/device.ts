import { constants, type FileHandle, open } from "node:fs/promises";
import { InfraError } from "../host/infra-error.ts";
import { filePosition } from "../host/process/file-position.ts";
import { hostReasons } from "../host/reasons.ts";
import type { BackupSource } from "./adapter.ts";

/** An open source for restic. */
export interface OpenSource {
  readonly input: FileHandle | AsyncIterable<Uint8Array>;
  /** Number of bytes read so far. */
  readonly position: () => Promise<number>;
  readonly close: () => Promise<void>;
}

/**
 * Opens a block device or file for reading. Bytes read from another kind of source are counted.
 * @throws InfraError TOOL_FAILED
 */
export async function openSource(source: BackupSource): Promise<OpenSource> {
  if ("content" in source) {
    let doneBytes = 0;
    const input = counted(source.content, (bytes) => {
      doneBytes += bytes;
    });
    // Its reader ends it.
    return { input, position: async () => doneBytes, close: async () => {} };
  }
  const device = await openDevice(source.device, constants.O_RDONLY);
  return { input: device, position: () => filePosition(device), close: () => device.close() };
}

async function* counted(
  content: AsyncIterable<Uint8Array>,
  count: (bytes: number) => void,
): AsyncGenerator<Uint8Array, void> {
  for await (const chunk of content) {
    count(chunk.length);
    yield chunk;
  }
}

/**
 * Opens a block device or file for writing, without creating or truncating it. While it is open, the device cannot be
 * mounted or opened in the same way: O_EXCL of open(2).
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
  throw new InfraError(hostReasons.TOOL_FAILED, `${device} is neither a block device nor a file`);
}

function errorFromOpen(device: string, cause: unknown): InfraError {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown";
  if (code === "EBUSY") {
    return new InfraError(hostReasons.VOLUME_IN_USE, `${device} is in use`, { cause });
  }
  return new InfraError(hostReasons.TOOL_FAILED, `${device} cannot be opened (${code})`, { cause });
}
