import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { InfraError } from "../../host/infra-error.ts";
import type { LogPiece } from "../adapter.ts";
import { createRecordDecoder } from "../parse/parse-log-record.ts";
import { podmanReasons } from "../reasons.ts";

const chunkBytes = 64 * 1024;
/** Polling interval for new data; Podman polls every 250 ms. */
const pollMs = 200;

/**
 * Opens the file in which a container's output is recorded. Undefined if it does not exist yet, if the gateway may not
 * read it, or if it is on another machine.
 */
export async function openLogFile(path: string): Promise<FileHandle | undefined> {
  // Anyone who can write to the directory may have replaced the file with a link or a pipe.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags).catch(() => undefined);
  if (file !== undefined && !(await file.stat()).isFile()) {
    await file.close();
    return undefined;
  }
  return file;
}

/**
 * Yields the content of a log file. With `follow`, it then yields an empty array and after that new content, until the
 * file is removed; it continues if the file is replaced, as happens when it has a maximum size. A partially written
 * record is held back until it is complete. Ends when the signal is aborted. Closes the file.
 * @throws InfraError PODMAN_FAILED when the file cannot be read
 */
export async function* readLogFile(
  opened: FileHandle,
  path: string,
  { follow }: { readonly follow: boolean },
  signal: AbortSignal,
): AsyncGenerator<readonly LogPiece[], void> {
  const chunk = Buffer.allocUnsafe(chunkBytes);
  let file = opened;
  let offset = 0;
  let decode = createRecordDecoder();

  async function* until(endOffset: number): AsyncGenerator<readonly LogPiece[], void> {
    while (!signal.aborted && offset < endOffset) {
      const length = Math.min(chunkBytes, endOffset - offset);
      const { bytesRead } = await file.read(chunk, 0, length, offset);
      if (bytesRead === 0) {
        return;
      }
      offset += bytesRead;
      const pieces = decode(Uint8Array.prototype.slice.call(chunk, 0, bytesRead));
      if (pieces.length > 0) {
        yield pieces;
      }
    }
  }

  function startOver(): void {
    offset = 0;
    decode = createRecordDecoder();
  }

  try {
    yield* until((await file.stat()).size);
    if (follow) {
      yield [];
    }
    while (follow && !signal.aborted) {
      // Read before the content, since a file without a name gets no more content.
      const { nlink, size } = await file.stat();
      if (size < offset) {
        startOver();
      }
      yield* until(size);
      if (nlink > 0) {
        await sleep(pollMs, undefined, { signal, ref: false }).catch(() => {});
        continue;
      }
      const next = await openLogFile(path);
      if (next === undefined) {
        return;
      }
      await file.close();
      file = next;
      startOver();
    }
  } catch (error) {
    throw new InfraError(podmanReasons.PODMAN_FAILED, `The log file ${path} cannot be read`, {
      cause: error,
    });
  } finally {
    await file.close();
  }
}
