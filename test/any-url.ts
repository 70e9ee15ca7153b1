import fc from "fast-check";
import { codePoint } from "./code-point.ts";

/** The path of a URL, empty or with a leading slash. `fc.webUrl` builds the same table as the unit "binary" (code-point.ts). */
export const anyUrlPath: fc.Arbitrary<string> = fc
  .array(fc.string({ unit: codePoint, maxLength: 8 }), { maxLength: 4 })
  .map((segments) => segments.map((segment) => `/${encodeURIComponent(segment)}`).join(""));

/** An http or https URL with an optional port and path. */
export const anyUrl: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom("http", "https"),
    fc.oneof(fc.domain(), fc.ipV4()),
    fc.option(fc.integer({ min: 1, max: 65_535 })),
    anyUrlPath,
  )
  .map(([scheme, host, port, path]) => `${scheme}://${host}${port === null ? "" : `:${port}`}${path}`);
