import type { FileHandle } from "node:fs/promises";
import { openSourceDevice } from "../host/block-device.ts";
import { filePosition } from "../host/process/file-position.ts";
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
  const device = await openSourceDevice(source.device);
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
