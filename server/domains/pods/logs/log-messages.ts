import { createLineWriter, type LogLine, messageBytesOf, rfc3339FromNs } from "./log-line.ts";
import type { NewestLines } from "./newest-lines.ts";

/** Some lines, as the contract has them. */
export interface LogMessage {
  readonly lines: string[];
}

/** What a message may have, in bytes. */
export interface MessageLimits {
  /** One that stands for everything, and a line. */
  readonly wholeBytes: number;
  /** One of several. */
  readonly partBytes: number;
}

const mebibyte = 2 ** 20;
/** For the word about what was left out. */
const noticeBytes = 256;

/**
 * 3.5 MiB and 1 MiB, or less where the listeners let less pass.
 * @param maxMessageBytes the limit of the listeners
 */
export function messageLimitsOf(maxMessageBytes: number): MessageLimits {
  const wholeBytes = Math.min(3.5 * mebibyte, Math.floor((maxMessageBytes * 7) / 8));
  return { wholeBytes, partBytes: Math.min(mebibyte, wholeBytes) };
}

/** Messages of lines that come one after the other. */
export interface MessagePacker {
  /** The messages that are full with these lines; the rest waits. */
  add(lines: readonly LogLine[]): Generator<LogMessage, void>;
  /** What waits, if anything does. */
  rest(): LogMessage | undefined;
}

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
 * The one message of the newest lines that fit, behind one that says how many of those that were wanted do not.
 * @param maxLines how many were wanted
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
          `${rfc3339FromNs(oldest.timeNs)} hostplane: ${leftOut} earlier ${leftOut === 1 ? "line does" : "lines do"} not fit into this message: ask for a narrower window, or follow without a number of lines`,
        ];
  return { lines: [...notice, ...texts.reverse()] };
}
