/**
 * Nanoseconds since 1970 of an RFC 3339 time with up to nine digits of a second's fraction; undefined for anything else, and for
 * Go's zero time, `0001-01-01T00:00:00Z`, which stands for "never".
 */
export function nsFromRfc3339(text: string): bigint | undefined {
  const match = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(Z|[+-]\d{2}:\d{2})$/.exec(
    text,
  );
  if (match === null || match[1] === "0001") {
    return undefined;
  }
  const [, , , , , , , fraction = ""] = match;
  // Date.parse knows no leap seconds and Go writes none.
  const ms = Date.parse(fraction === "" ? text : text.replace(`.${fraction}`, ""));
  return Number.isNaN(ms) ? undefined : BigInt(ms) * 1_000_000n + BigInt(fraction.padEnd(9, "0"));
}

/** The same time in Podman's other way to write times in a query: seconds with a fraction. */
export function secondsFromNs(ns: bigint): string {
  const seconds = ns / 1_000_000_000n;
  return `${seconds}.${String(ns % 1_000_000_000n).padStart(9, "0")}`;
}

/** `nsFromRfc3339` of times of which most are the same as the one before: those of a log's lines. */
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
