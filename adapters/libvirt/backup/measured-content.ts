import { InfraError } from "../../host/infra-error.ts";
import { errorFromSource } from "../../host/process/tool-errors.ts";
import { hostReasons } from "../../host/reasons.ts";
import type { VolumeContent } from "../backup-adapter.ts";

/**
 * Yields a source's content and checks its size; `onPiece` is called after each piece has been consumed.
 * @throws InfraError TOOL_FAILED if it is longer or shorter, or fails with an error other than an InfraError
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
        throw new InfraError(hostReasons.TOOL_FAILED, `the content is longer than ${sizeBytes} bytes`);
      }
      yield piece;
      onPiece(piece, doneBytes);
    }
  } catch (cause) {
    throw errorFromSource(cause, "libvirt");
  }
  if (doneBytes < sizeBytes) {
    const words = `the content has ${doneBytes} bytes instead of ${sizeBytes}`;
    throw new InfraError(hostReasons.TOOL_FAILED, words);
  }
}
