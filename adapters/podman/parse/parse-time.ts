/**
 * Parses an RFC 3339 time with up to nine fractional digits to nanoseconds since 1970. Returns undefined for anything
 * else, and for Go's zero time, `0001-01-01T00:00:00Z`, which stands for "never".
 */
export function nsFromRfc3339(text: string): bigint | undefined {
  const match = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(Z|[+-]\d{2}:\d{2})$/.exec(
    text,
  );
  if (match === null || match[1] === "0001") {
    return undefined;
  }
  const [, , , , , , , fraction = ""] = match;
  // Date.parse does not support leap seconds, and Go does not write them.
  const ms = Date.parse(fraction === "" ? text : text.replace(`.${fraction}`, ""));
  return Number.isNaN(ms) ? undefined : BigInt(ms) * 1_000_000n + BigInt(fraction.padEnd(9, "0"));
}

/** Formats a time for Podman's queries: seconds with a fraction. */
export function secondsFromNs(ns: bigint): string {
  const seconds = ns / 1_000_000_000n;
  return `${seconds}.${String(ns % 1_000_000_000n).padStart(9, "0")}`;
}

/** Creates an `nsFromRfc3339` that caches the last time: in logs, most lines have the same time as the line before. */
export function createTimeReader(): (text: string) => bigint | undefined {
  let lastText = "";
  let lastNs: bigint | undefined;
  return (text) => {
    if (text !== lastText) {
      lastText = text;
      lastNs = nsFromRfc3339(text);
    }
    return lastNs;
  };
}
