import type { AnswerTracker } from "./answer-tracker.ts";
import type { EndEnvelope } from "./envelope-tracker.ts";

/** How much of an event is kept, to recognise one that ends the stream. */
const keptBytes = 64 * 1024;

const lineFeed = 0x0a;

/**
 * Follows server-sent events as `eventFrame` writes them: lines that end in `\n`, and an empty line after each event. The stream is
 * whole after an event `end` or `error`; the data of an error is its end.
 */
export function createEventTracker(): AnswerTracker {
  let kept: Buffer[] = [];
  let size = 0;
  let lastByte: number | undefined;
  let isInEvent = false;
  let end: EndEnvelope | undefined;

  function finishEvent(): void {
    const text = Buffer.concat(kept).toString();
    kept = [];
    size = 0;
    isInEvent = false;
    const type = /^event: (end|error)$/m.exec(text)?.[1];
    if (type !== undefined) {
      const data = type === "end" ? "" : (/^data: (.*)$/m.exec(text)?.[1] ?? "");
      end = { isCompressed: false, data: Buffer.from(data) };
    }
  }

  function keep(part: Buffer): void {
    if (size < keptBytes) {
      // A copy: the chunk may be a part of a larger buffer.
      kept.push(Buffer.from(part.subarray(0, keptBytes - size)));
      size += part.byteLength;
    }
    isInEvent ||= part.byteLength > 0;
  }

  /** Returns where the event that the chunk continues ends; -1 if the chunk does not end it. */
  function eventEnd(chunk: Buffer): number {
    if (isInEvent && lastByte === lineFeed && chunk[0] === lineFeed) {
      return 1;
    }
    const at = chunk.indexOf("\n\n");
    return at === -1 ? -1 : at + 2;
  }

  return {
    push(chunk) {
      let rest = chunk;
      while (rest.byteLength > 0) {
        const endAt = eventEnd(rest);
        const part = endAt === -1 ? rest : rest.subarray(0, endAt);
        keep(part);
        lastByte = part.at(-1);
        if (endAt !== -1) {
          finishEvent();
          lastByte = undefined;
        }
        rest = rest.subarray(part.byteLength);
      }
    },
    isAtBoundary: () => !isInEvent,
    isWhole: () => end !== undefined && !isInEvent,
    end: () => end,
  };
}
