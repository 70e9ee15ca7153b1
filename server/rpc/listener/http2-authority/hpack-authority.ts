import { decodeHuffman, encodeHuffman } from "./huffman.ts";

/** Index of `:authority` in the static table, RFC 7541 appendix A. */
const authorityIndex = 1;
const authorityName = Buffer.from(":authority");
const authorityNameHuffman = encodeHuffman(authorityName);

/**
 * Replaces a byte that an authority cannot have. Its Huffman code has 6 bits, and none of the bytes it replaces has a shorter
 * one, so a header block never grows.
 */
const substitute = 0x2d; // "-"

const authorityBytes: readonly boolean[] = Array.from({ length: 256 }, (_, byte) =>
  /[A-Za-z0-9!$%&'()*+,\-.:;=[\]_~]/.test(String.fromCharCode(byte)),
);

/**
 * Reports whether nghttp2 accepts this byte in `:authority`: RFC 3986's unreserved, sub-delims, `:`, `[`, `]` and `%`. `@` is not
 * among them: RFC 9113 section 8.3.1 forbids user information.
 */
export function isAuthorityByte(byte: number): boolean {
  return authorityBytes[byte] === true;
}

/**
 * Rewrites a header block (RFC 7541): in each literal value of `:authority`, every byte that nghttp2 would refuse becomes `-`, so
 * that a file path `/run/a.sock` becomes `-run-a.sock`. Everything else, and the order, stays. The value's decoded length stays
 * too, so client and server still agree on the size of their dynamic tables, and later requests that refer to the entry by its
 * index get the replaced value.
 *
 * Needs no state between blocks. It does not handle an `:authority` whose *name* comes from the dynamic table: the name is in the
 * static table, and encoders prefer that.
 *
 * Returns the same object when there is nothing to replace or when the block is malformed. Never returns a longer block; never
 * throws.
 */
export function rewriteAuthority(block: Buffer): Buffer {
  const cursor: Cursor = { block, at: 0 };
  const pieces: Buffer[] = [];
  let copiedTo = 0;
  while (cursor.at < block.length) {
    const first = block[cursor.at] as number;
    const isIndexed = (first & 0x80) !== 0;
    const isTableSize = (first & 0xe0) === 0x20;
    if (isIndexed || isTableSize) {
      if (readInteger(cursor, isIndexed ? 7 : 5) === malformed) {
        return block;
      }
      continue;
    }
    const nameIndex = readInteger(cursor, (first & 0x40) !== 0 ? 6 : 4);
    if (nameIndex === malformed) {
      return block;
    }
    let isAuthority = nameIndex === authorityIndex;
    if (nameIndex === 0) {
      const name = readString(cursor);
      if (name === undefined) {
        return block;
      }
      isAuthority = isAuthorityName(block, name);
    }
    const valueAt = cursor.at;
    const value = readString(cursor);
    if (value === undefined) {
      return block;
    }
    const replacement = isAuthority ? replacementOf(block, value) : undefined;
    if (replacement === undefined) {
      continue;
    }
    pieces.push(block.subarray(copiedTo, valueAt), replacement);
    copiedTo = cursor.at;
  }
  return pieces.length === 0 ? block : Buffer.concat([...pieces, block.subarray(copiedTo)]);
}

interface Cursor {
  readonly block: Buffer;
  at: number;
}

/** Payload of a string literal, `from` inclusive, `to` exclusive. */
interface StringLiteral {
  readonly isHuffman: boolean;
  readonly from: number;
  readonly to: number;
}

const malformed = -1;
/** No length or index in a block within our limits is larger; the bound keeps the arithmetic exact. */
const largestInteger = 2 ** 28;

/** Reads an integer with a prefix of `prefixBits` bits (RFC 7541 section 5.1). Returns `malformed` if it is invalid. */
function readInteger(cursor: Cursor, prefixBits: number): number {
  const { block } = cursor;
  const mask = 2 ** prefixBits - 1;
  let value = (block[cursor.at++] as number) & mask;
  if (value < mask) {
    return value;
  }
  for (let scale = 1; scale < largestInteger; scale *= 128) {
    const byte = block[cursor.at++];
    if (byte === undefined) {
      return malformed;
    }
    value += (byte & 0x7f) * scale;
    if (value > largestInteger) {
      return malformed;
    }
    if (byte < 0x80) {
      return value;
    }
  }
  return malformed;
}

function readString(cursor: Cursor): StringLiteral | undefined {
  const first = cursor.block[cursor.at];
  if (first === undefined) {
    return undefined;
  }
  const length = readInteger(cursor, 7);
  if (length === malformed || cursor.at + length > cursor.block.length) {
    return undefined;
  }
  const from = cursor.at;
  cursor.at += length;
  return { isHuffman: (first & 0x80) !== 0, from, to: cursor.at };
}

function isAuthorityName(block: Buffer, { isHuffman, from, to }: StringLiteral): boolean {
  const name = isHuffman ? authorityNameHuffman : authorityName;
  return name.equals(block.subarray(from, to));
}

/** Returns the string literal that replaces an authority, or undefined if it can stay. */
function replacementOf(block: Buffer, { isHuffman, from, to }: StringLiteral): Buffer | undefined {
  const payload = block.subarray(from, to);
  const value = isHuffman ? decodeHuffman(payload) : payload;
  if (value === undefined || value.every(isAuthorityByte)) {
    return undefined;
  }
  const replaced = Buffer.from(value.map((byte) => (isAuthorityByte(byte) ? byte : substitute)));
  const encoded = isHuffman ? encodeHuffman(replaced) : replaced;
  return Buffer.concat([encodeStringLength(encoded.length, isHuffman), encoded]);
}

function encodeStringLength(length: number, isHuffman: boolean): Buffer {
  const flag = isHuffman ? 0x80 : 0;
  if (length < 0x7f) {
    return Buffer.of(flag | length);
  }
  const bytes = [flag | 0x7f];
  let rest = length - 0x7f;
  for (; rest >= 0x80; rest = Math.floor(rest / 128)) {
    bytes.push((rest % 128) | 0x80);
  }
  return Buffer.from([...bytes, rest]);
}
