import { InfraError } from "../host/infra-error.ts";
import { errorFromSource } from "../host/tool-errors.ts";
import type { VolumeContent } from "./backup-adapter.ts";

/**
 * What a source has, as long as it has what it is to have; each piece is told once it has been taken.
 * @throws InfraError TOOL_FAILED when it has more or less, or fails by no InfraError of its own
 */
export async function* measuredContent(
  { content, sizeBytes }: VolumeContent,
  onPiece: (piece: Uint8Array, doneBytes: bigint) => void,
): AsyncGenerator<Uint8Array, void> {
  let doneBytes = 0n;
  try {
    for await (const piece of content) {
      doneBytes += BigInt(piece.length);
      if (doneBytes > sizeBytes) {
        throw new InfraError("TOOL_FAILED", `there was more to be written than ${sizeBytes} bytes`);
      }
      yield piece;
      onPiece(piece, doneBytes);
    }
  } catch (cause) {
    throw errorFromSource(cause, "libvirt");
  }
  if (doneBytes < sizeBytes) {
    const words = `there were ${doneBytes} bytes to be written instead of ${sizeBytes}`;
    throw new InfraError("TOOL_FAILED", words);
  }
}
