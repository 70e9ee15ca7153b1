import fc from "fast-check";

/**
 * Unit for `fc.string`: any code point except surrogates. fast-check's own unit "binary" first builds a table of all of Unicode,
 * which takes over a second of CPU time in each process.
 */
export const codePoint: fc.Arbitrary<string> = fc
  .oneof(
    { weight: 4, arbitrary: fc.integer({ min: 0, max: 0x7f }) },
    fc.integer({ min: 0x80, max: 0xd7ff }),
    fc.integer({ min: 0xe000, max: 0x10ffff }),
  )
  .map((code) => String.fromCodePoint(code));
