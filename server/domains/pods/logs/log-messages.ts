import { createLineWriter, type LogLine, messageBytesOf, rfc3339FromNs } from "./log-line.ts";
import type { NewestLines } from "./newest-lines.ts";

/** A message with log lines, as in the API. */
export interface LogMessage {
  readonly lines: string[];
}

/** Size limits of messages, in bytes. */
export interface MessageLimits {
  /** For a single message that contains everything, and for a line. */
  readonly wholeBytes: number;
  /** For one of several messages. */
  readonly partBytes: number;
}

const mebibyte = 2 ** 20;
/** Reserved for the notice about omitted lines. */
const noticeBytes = 256;

/**
 * Returns 3.5 MiB and 1 MiB, or less if the listeners' limit is lower.
 * @param maxMessageBytes the limit of the listeners
 */
export function messageLimitsOf(maxMessageBytes: number): MessageLimits {
  const wholeBytes = Math.min(3.5 * mebibyte, Math.floor((maxMessageBytes * 7) / 8));
  return { wholeBytes, partBytes: Math.min(mebibyte, wholeBytes) };
}

/** Packs consecutive lines into messages. */
export interface MessagePacker {
  /** Yields the messages that these lines fill; the rest is kept. */
  add(lines: readonly LogLine[]): Generator<LogMessage, void>;
  /** Returns the kept lines, if any. */
  rest(): LogMessage | undefined;
}

/** @param limits in bytes; a longer line is cut */
export function createMessagePacker({ wholeBytes, partBytes }: MessageLimits): MessagePacker {
  const write = createLineWriter(wholeBytes);
  let texts: string[] = [];
  let bytes = 0;

  function take(): LogMessage {
    const lines = texts;
    texts = [];
    bytes = 0;
    return { lines };
  }

  return {
    *add(lines) {
      for (const line of lines) {
        const text = write(line);
        const textBytes = messageBytesOf(text);
        if (texts.length > 0 && bytes + textBytes > partBytes) {
          yield take();
        }
        texts.push(text);
        bytes += textBytes;
      }
    },
    rest: () => (texts.length === 0 ? undefined : take()),
  };
}

/**
 * Returns one message with the newest lines that fit, preceded by a notice about how many of the requested lines do not.
 * @param maxLines requested number of lines
 */
export function newestMessage(
  newest: NewestLines,
  maxLines: number,
  { wholeBytes }: MessageLimits,
): LogMessage {
  const write = createLineWriter(wholeBytes - noticeBytes);
  const kept = newest.kept();
  const texts: string[] = [];
  let bytes = noticeBytes;
  for (const line of kept.toReversed()) {
    const text = write(line);
    bytes += messageBytesOf(text);
    if (bytes > wholeBytes) {
      break;
    }
    texts.push(text);
  }
  const oldest = kept.at(-texts.length);
  const leftOut = Math.min(newest.seen(), maxLines) - texts.length;
  const notice =
    oldest === undefined || leftOut === 0
      ? []
      : [
          `${rfc3339FromNs(oldest.timeNs)} hostplane: ${leftOut} earlier ${leftOut === 1 ? "line does" : "lines do"} not fit into this message: request a narrower window, or follow without a line limit`,
        ];
  return { lines: [...notice, ...texts.reverse()] };
}
