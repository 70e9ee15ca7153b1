import fc from "fast-check";
import { codePoint } from "./code-point.ts";

/** A path of URLs, empty or from "/" on. fast-check's own lists all of Unicode first, as its unit "binary" does. */
export const anyUrlPath: fc.Arbitrary<string> = fc
  .array(fc.string({ unit: codePoint, maxLength: 8 }), { maxLength: 4 })
  .map((segments) => segments.map((segment) => `/${encodeURIComponent(segment)}`).join(""));

/** A URL of HTTP with or without a port and a path. */
export const anyUrl: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom("http", "https"),
    fc.oneof(fc.domain(), fc.ipV4()),
    fc.option(fc.integer({ min: 1, max: 65_535 })),
    anyUrlPath,
  )
  .map(([scheme, host, port, path]) => `${scheme}://${host}${port === null ? "" : `:${port}`}${path}`);
