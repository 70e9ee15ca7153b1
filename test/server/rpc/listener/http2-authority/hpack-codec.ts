import fc from "fast-check";
import { decodeHuffman, encodeHuffman } from "../../../../../server/rpc/listener/http2-authority/huffman.ts";

/** A field and how to encode it. Strings have one byte per character. */
export interface Field {
  readonly name: string;
  readonly value: string;
  readonly representation: "indexed" | "plain" | "never";
  readonly isHuffman: boolean;
  /** Whether a name of the static table is still spelled out. */
  readonly isNameLiteral: boolean;
}

/** The part of RFC 7541 appendix A that the tests need. */
const staticNames = new Map([
  [":authority", 1],
  [":path", 4],
  ["content-type", 31],
  ["user-agent", 58],
]);
const staticFields = new Map<number, [string, string]>([
  [3, [":method", "POST"]],
  [6, [":scheme", "http"]],
]);

/** Fields of all forms, often with the authority, which may occur several times in one list. */
export const arbitraryFields = fc.array(
  fc.record<Field>({
    name: fc.constantFrom(
      ":authority",
      ":authority",
      ":path",
      "content-type",
      "user-agent",
      "x-a",
      "grpc-timeout",
    ),
    value: fc.oneof(
      fc.constantFrom("/run/topolvm/lvmd.sock", "localhost", "[::1]:80", "@/a b", ""),
      fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString("latin1")),
    ),
    representation: fc.constantFrom("indexed", "plain", "never"),
    isHuffman: fc.boolean(),
    isNameLiteral: fc.boolean(),
  }),
  { maxLength: 12 },
);

/** Encodes a header block that starts with a table size update and two indexed fields. */
export function encodeFields(fields: readonly Field[]): Buffer {
  return Buffer.concat([encodeInteger(4096, 5, 0x20), Buffer.of(0x83, 0x86), ...fields.map(encodeField)]);
}

function encodeField({ name, value, representation, isHuffman, isNameLiteral }: Field): Buffer {
  const [prefixBits, flag] = { indexed: [6, 0x40], plain: [4, 0], never: [4, 0x10] }[representation] as [
    number,
    number,
  ];
  const index = isNameLiteral ? 0 : (staticNames.get(name) ?? 0);
  return Buffer.concat([
    encodeInteger(index, prefixBits, flag),
    index === 0 ? encodeString(name, isHuffman) : Buffer.alloc(0),
    encodeString(value, isHuffman),
  ]);
}

function encodeString(text: string, isHuffman: boolean): Buffer {
  const raw = Buffer.from(text, "latin1");
  const payload = isHuffman ? encodeHuffman(raw) : raw;
  return Buffer.concat([encodeInteger(payload.length, 7, isHuffman ? 0x80 : 0), payload]);
}

function encodeInteger(value: number, prefixBits: number, flag: number): Buffer {
  const mask = (1 << prefixBits) - 1;
  if (value < mask) {
    return Buffer.of(flag | value);
  }
  const bytes = [flag | mask];
  let rest = value - mask;
  for (; rest > 127; rest >>= 7) {
    bytes.push((rest & 127) | 128);
  }
  return Buffer.from([...bytes, rest]);
}

/** Decodes such a block, and returns the size of its entries in the dynamic table (RFC 7541 section 4.1). */
export function decodeBlock(block: Buffer): { fields: [string, string][]; tableBytes: number } | undefined {
  const fields: [string, string][] = [];
  let tableBytes = 0;
  let at = 0;
  const integer = (prefixBits: number): number => {
    const mask = (1 << prefixBits) - 1;
    let value = (block[at++] ?? 0) & mask;
    if (value < mask) {
      return value;
    }
    for (let shift = 0; ; shift += 7) {
      const byte = block[at++] ?? 0;
      value += (byte & 127) << shift;
      if (byte < 128) {
        return value;
      }
    }
  };
  const string = (): string => {
    const isHuffman = ((block[at] ?? 0) & 0x80) !== 0;
    const length = integer(7);
    const payload = block.subarray(at, at + length);
    at += length;
    return (isHuffman ? decodeHuffman(payload) : payload)?.toString("latin1") ?? "undecodable";
  };
  while (at < block.length) {
    const first = block[at] ?? 0;
    if ((first & 0x80) !== 0) {
      const field = staticFields.get(integer(7));
      if (field === undefined) {
        return undefined;
      }
      fields.push(field);
    } else if ((first & 0xe0) === 0x20) {
      integer(5);
    } else {
      const isAdded = (first & 0x40) !== 0;
      const index = integer(isAdded ? 6 : 4);
      const name = index === 0 ? string() : [...staticNames].find(([, known]) => known === index)?.[0];
      if (name === undefined) {
        return undefined;
      }
      const value = string();
      fields.push([name, value]);
      if (isAdded) {
        tableBytes += name.length + value.length + 32;
      }
    }
  }
  return at === block.length ? { fields, tableBytes } : undefined;
}
