/** A line printed by an app. */
export interface LogLine {
  /** When it ended, nanoseconds since 1970. */
  readonly timeNs: bigint;
  /** Without the line ending. May be any bytes. */
  readonly bytes: Uint8Array;
  /** Number of further bytes that were dropped. */
  readonly cutBytes: number;
}

/** Maximum overhead per line in any protocol. */
const frameBytes = 8;

/** Minimum size of a line in a message besides its text: its time and a space. */
export const leastLineBytes = frameBytes + "2026-11-21T15:29:23Z ".length;

/** Maximum size of the same, including the notice about dropped bytes. */
const mostLineBytes = 96;

/**
 * Creates a function that formats lines for callers: the time in RFC 3339 (UTC), a space, and the text, in which invalid
 * UTF-8 is replaced with U+FFFD. A line longer than a message may be is cut, with a notice at its end.
 * @param maxBytes of the text, as counted by `messageBytesOf`
 */
export function createLineWriter(maxBytes: number): (line: LogLine) => string {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const timeText = createTimeWriter();

  return ({ timeNs, bytes, cutBytes }) => {
    const message = decoder.decode(bytes);
    const prefix = `${timeText(timeNs)} `;
    // Most lines are short enough to fit by their length alone.
    const length =
      bytes.length * 6 <= maxBytes - mostLineBytes ? message.length : fittingLength(message, maxBytes);
    if (length === message.length && cutBytes === 0) {
      return prefix + message;
    }
    const leftOutBytes = cutBytes + Buffer.byteLength(message.slice(length));
    return `${prefix}${message.slice(0, length)} (cut: ${leftOutBytes} bytes more)`;
  };
}

/** Returns the size of a line's text in a message, for the protocol with the largest encoding. */
export function messageBytesOf(text: string): number {
  let bytes = frameBytes;
  for (let at = 0; at < text.length; at += 1) {
    bytes += bytesOfUnit(text.charCodeAt(at));
  }
  return bytes;
}

/** Returns how many characters of the text fit, together with its time and the notice about the rest. */
function fittingLength(text: string, maxBytes: number): number {
  let bytes = mostLineBytes;
  for (let at = 0; at < text.length; at += 1) {
    bytes += bytesOfUnit(text.charCodeAt(at));
    if (bytes > maxBytes) {
      // Never splits a surrogate pair.
      return (text.charCodeAt(at) & 0xfc00) === 0xdc00 ? at - 1 : at;
    }
  }
  return text.length;
}

/** Returns the size in JSON (`\u0007` for a bell), which is never shorter than UTF-8. */
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

/** Caches the last result, since most lines have the same time as the line before. */
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

/** Returns `2026-11-21T15:29:23Z`, with as many fractional digits as needed. */
export function rfc3339FromNs(timeNs: bigint): string {
  const rest = ((timeNs % secondNs) + secondNs) % secondNs;
  const seconds = new Date(Number((timeNs - rest) / 1_000_000n)).toISOString().slice(0, -5);
  const fraction = rest === 0n ? "" : `.${String(rest).padStart(9, "0").replace(/0+$/, "")}`;
  return `${seconds}${fraction}Z`;
}
