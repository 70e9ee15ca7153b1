import { type FileHandle, readFile } from "node:fs/promises";
import { deviceNumberFrom } from "../../host/device-number.ts";

/** A part takes up to some seconds, and the kernel stops a discard only at its end. */
const maxPartBytes = 2 ** 30;

/** What of a device is discarded by one command. */
export interface DiscardPart {
  readonly offsetBytes: number;
  readonly lengthBytes: number;
}

/**
 * Splits a device into parts to discard, in order.
 * @param granularityBytes each part begins at a multiple of it: a thin pool keeps a chunk that a part covers only partly.
 * If 1 GiB is no multiple of it, there is one part: a pool with chunks of 192 KiB kept one of them when it was discarded in parts
 * (Debian 12's kernel, in the VM lab).
 */
export function* discardParts(totalBytes: number, granularityBytes: number): Generator<DiscardPart> {
  const partBytes = maxPartBytes % granularityBytes === 0 ? maxPartBytes : totalBytes;
  for (let offsetBytes = 0; offsetBytes < totalBytes; offsetBytes += partBytes) {
    yield { offsetBytes, lengthBytes: Math.min(partBytes, totalBytes - offsetBytes) };
  }
}

/**
 * Returns the argv that discards a part of a device that the gateway has opened exclusively: without --force, blkdiscard also
 * opens it exclusively, and fails.
 */
export function discardPartCommandOf(
  device: string,
  { offsetBytes, lengthBytes }: DiscardPart,
): readonly string[] {
  return ["blkdiscard", "--force", `--offset=${offsetBytes}`, `--length=${lengthBytes}`, "--", device];
}

/** Returns the unit in which an opened device discards, e.g. the chunk size of a thin pool; 1 if the kernel names none. */
export async function readDiscardGranularity(device: FileHandle): Promise<number> {
  const { rdev } = await device.stat({ bigint: true });
  const { major, minor } = deviceNumberFrom(rdev);
  const file = `/sys/dev/block/${major}:${minor}/queue/discard_granularity`;
  return Number(await readFile(file, "utf8").catch(() => "")) || 1;
}
