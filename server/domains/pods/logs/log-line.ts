/** A line that an app printed. */
export interface LogLine {
  /** When it ended, nanoseconds since 1970. */
  readonly timeNs: bigint;
  /** Without the line's end. Any bytes. */
  readonly bytes: Uint8Array;
  /** How many bytes more it had. */
  readonly cutBytes: number;
}

/** What every protocol puts around a line, at most. */
const frameBytes = 8;

/** What a line takes in a message at least, besides what it says: its time and a space. */
export const leastLineBytes = frameBytes + "2026-11-21T15:29:23Z ".length;

/** The same at most, with a word about what was cut. */
const mostLineBytes = 96;

/**
 * A line as callers get it: its time as RFC 3339 has it, in UTC, a space, and what was printed, in which everything that is no
 * UTF-8 has become U+FFFD. One that is longer than a message may be is cut, and says so at its end.
 * @param maxBytes of the text, as `messageBytesOf` counts
 */
export function createLineWriter(maxBytes: number): (line: LogLine) => string {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const timeText = createTimeWriter();

  return ({ timeNs, bytes, cutBytes }) => {
    const message = decoder.decode(bytes);
    const prefix = `${timeText(timeNs)} `;
    // Most lines are short: their length alone tells that they fit.
    const length =
      bytes.length * 6 <= maxBytes - mostLineBytes ? message.length : fittingLength(message, maxBytes);
    if (length === message.length && cutBytes === 0) {
      return prefix + message;
    }
    const leftOutBytes = cutBytes + Buffer.byteLength(message.slice(length));
    return `${prefix}${message.slice(0, length)} (cut: ${leftOutBytes} bytes more)`;
  };
}

/** Bytes that a line's text takes in a message, in whichever protocol takes the most. */
export function messageBytesOf(text: string): number {
  let bytes = frameBytes;
  for (let at = 0; at < text.length; at += 1) {
    bytes += bytesOfUnit(text.charCodeAt(at));
  }
  return bytes;
}

/** How many characters of the text fit, with its time and a word about the rest. */
function fittingLength(text: string, maxBytes: number): number {
  let bytes = mostLineBytes;
  for (let at = 0; at < text.length; at += 1) {
    bytes += bytesOfUnit(text.charCodeAt(at));
    if (bytes > maxBytes) {
      // Both halves of a character, or none.
      return (text.charCodeAt(at) & 0xfc00) === 0xdc00 ? at - 1 : at;
    }
  }
  return text.length;
}

/** As JSON has it, `\u0007` for a bell, since that is never shorter than UTF-8. */
function bytesOfUnit(unit: number): number {
  if (unit < 0x20) {
    return 6;
  }
  if (unit < 0x80) {
    return unit === 0x22 || unit === 0x5c ? 2 : 1;
  }
  if (unit < 0x800) {
    return 2;
  }
  return (unit & 0xf800) === 0xd800 ? 2 : 3;
}

/** Most lines have the second of the line before. */
function createTimeWriter(): (timeNs: bigint) => string {
  let lastNs: bigint | undefined;
  let lastText = "";
  return (timeNs) => {
    if (timeNs !== lastNs) {
      lastNs = timeNs;
      lastText = rfc3339FromNs(timeNs);
    }
    return lastText;
  };
}

const secondNs = 1_000_000_000n;

/** `2026-11-21T15:29:23Z`, and with as many digits of the second's fraction as it has. */
export function rfc3339FromNs(timeNs: bigint): string {
  const rest = ((timeNs % secondNs) + secondNs) % secondNs;
  const seconds = new Date(Number((timeNs - rest) / 1_000_000n)).toISOString().slice(0, -5);
  const fraction = rest === 0n ? "" : `.${String(rest).padStart(9, "0").replace(/0+$/, "")}`;
  return `${seconds}${fraction}Z`;
}
