/**
 * Code length in bits of each byte, and of the end-of-string symbol (256), from RFC 7541 appendix B. The lengths are sufficient
 * because the code is canonical: codes are assigned in order of length, then of symbol.
 */
// biome-ignore format: sixteen to a row, as a table
const codeLengths: readonly number[] = [
  13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28,
  28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
   6, 10, 10, 12, 13,  6,  8, 11, 10, 10,  8, 11,  8,  6,  6,  6,
   5,  5,  5,  6,  6,  6,  6,  6,  6,  6,  7,  8, 15,  6, 12, 10,
  13,  6,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,
   7,  7,  7,  7,  7,  7,  7,  7,  8,  7,  8, 13, 19, 13, 14,  6,
  15,  5,  6,  5,  6,  5,  6,  6,  6,  5,  7,  7,  6,  6,  6,  5,
   6,  7,  6,  5,  5,  6,  7,  7,  7,  7,  7, 15, 11, 14, 13, 28,
  20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
  24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
  22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23,
  21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
  26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,
  19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
  20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
  26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
  30,
];

const endOfString = 256;
const longestCode = 30;

interface Row {
  /** The first code of this length; the others follow consecutively. */
  readonly firstCode: number;
  readonly symbols: readonly number[];
}

/** rows[n] holds the symbols whose code has n bits. */
const rows: readonly Row[] = canonicalRows();

const codes: readonly number[] = codeLengths.map((length, symbol) => {
  const row = rows[length] as Row;
  return row.firstCode + row.symbols.indexOf(symbol);
});

function canonicalRows(): Row[] {
  let nextCode = 0;
  return Array.from({ length: longestCode + 1 }, (_, length) => {
    const symbols = codeLengths.flatMap((bits, symbol) => (bits === length ? [symbol] : []));
    const firstCode = nextCode * 2;
    nextCode = firstCode + symbols.length;
    return { firstCode, symbols };
  });
}

/** Returns the Huffman form of a string (RFC 7541 section 5.2), padded with ones to whole bytes. */
export function encodeHuffman(text: Uint8Array): Buffer {
  let bits = 0;
  for (const byte of text) {
    bits += codeLengths[byte] as number;
  }
  const encoded = Buffer.alloc(Math.ceil(bits / 8));
  let at = 0;
  let pending = 0;
  let pendingBits = 0;
  for (const byte of text) {
    const length = codeLengths[byte] as number;
    // Up to 7 + 30 bits are pending: more than the 32 of the shift operators, so this uses arithmetic.
    pending = pending * 2 ** length + (codes[byte] as number);
    pendingBits += length;
    while (pendingBits >= 8) {
      pendingBits -= 8;
      const scale = 2 ** pendingBits;
      encoded[at++] = Math.floor(pending / scale);
      pending %= scale;
    }
  }
  if (pendingBits > 0) {
    encoded[at] = (pending << (8 - pendingBits)) | (0xff >> pendingBits);
  }
  return encoded;
}

/**
 * Decodes a Huffman-coded string. Returns undefined for the errors of RFC 7541 section 5.2: a code that does not exist, the
 * end-of-string symbol, or padding that is not ones or has a whole byte or more.
 */
export function decodeHuffman(encoded: Uint8Array): Buffer | undefined {
  // The shortest code has 5 bits.
  const decoded = Buffer.alloc(Math.floor((encoded.length * 8) / 5));
  let at = 0;
  let code = 0;
  let length = 0;
  for (const byte of encoded) {
    for (let bit = 7; bit >= 0; bit--) {
      code = (code << 1) | ((byte >> bit) & 1);
      length++;
      const row = rows[length];
      if (row === undefined) {
        return undefined;
      }
      const symbol = row.symbols[code - row.firstCode];
      if (symbol === undefined) {
        continue;
      }
      if (symbol === endOfString) {
        return undefined;
      }
      decoded[at++] = symbol;
      code = 0;
      length = 0;
    }
  }
  const paddingIsRight = length < 8 && code === (1 << length) - 1;
  return paddingIsRight ? decoded.subarray(0, at) : undefined;
}
