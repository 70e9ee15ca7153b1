import type { HeldVolume } from "./pool-volumes.ts";

/**
 * Returns the source with its last chunk withheld until the source has ended without an error. A source may fail only at its
 * end, for example because the volume was written to meanwhile. Its snapshot is then too short and therefore recognizable,
 * even if the gateway is killed in between. A device needs no such check: reading fails as soon as it is no longer held.
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
