import type { HeldVolume } from "./pool-volumes.ts";

/**
 * The source, with its last piece handed over only once it has ended well: a reader that is judged at its end, such as one of
 * a volume that was written to meanwhile, then leaves a snapshot that is too short, also when the gateway is killed before the
 * judgement. A device needs none: it cannot be read on when it is held no more.
 */
export function judgedSource(source: HeldVolume["source"]): HeldVolume["source"] {
  return "content" in source ? { ...source, content: lastPieceHeld(source.content) } : source;
}

async function* lastPieceHeld(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let held: Uint8Array | undefined;
  for await (const piece of content) {
    if (piece.length > 0) {
      if (held !== undefined) {
        yield held;
      }
      held = piece;
    }
  }
  if (held !== undefined) {
    yield held;
  }
}
