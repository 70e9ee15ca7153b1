import fc from "fast-check";

/**
 * The unit of strings of any code points, without lone surrogates, as fast-check's own unit "binary" is, which takes a second or
 * more of CPU time in each process to list all of Unicode.
 */
export const codePoint: fc.Arbitrary<string> = fc
  .oneof(
    { weight: 4, arbitrary: fc.integer({ min: 0, max: 0x7f }) },
    fc.integer({ min: 0x80, max: 0xd7ff }),
    fc.integer({ min: 0xe000, max: 0x10ffff }),
  )
  .map((code) => String.fromCodePoint(code));
