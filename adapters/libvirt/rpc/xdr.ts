import { invalidField } from "../../host/infra-error.ts";
import type { XdrReader } from "./xdr-reader.ts";
import type { XdrWriter } from "./xdr-writer.ts";

/**
 * Encodes a value in XDR (RFC 4506): big-endian, with all lengths a multiple of four bytes. Codecs are composed of
 * others, and their types derive from those; see `Static`.
 */
export interface Codec<T> {
  /** @throws InfraError INVALID_FIELD for a value that cannot be encoded */
  encode(writer: XdrWriter, value: T): void;
  /** Never reads beyond the value. @throws InfraError TOOL_OUTPUT for bytes that do not encode the value */
  decode(reader: XdrReader): T;
}

/** The type of a codec's values. */
export type Static<C> = C extends Codec<infer T> ? T : never;

function integer(name: string, min: number, max: number, codec: Codec<number>): Codec<number> {
  return {
    encode(writer, value) {
      if (!Number.isInteger(value) || value < min || value > max) {
        throw invalidField(name, `must be a whole number from ${min} to ${max}, is ${value}`);
      }
      codec.encode(writer, value);
    },
    decode: codec.decode,
  };
}

/** A signed integer of 32 bits; C's short types also take 32 bits on the wire. */
export const int = integer("int", -0x8000_0000, 0x7fff_ffff, {
  encode: (writer, value) => writer.int32(value),
  decode: (reader) => reader.int32(),
});

export const uint = integer("uint", 0, 0xffff_ffff, {
  encode: (writer, value) => writer.uint32(value),
  decode: (reader) => reader.uint32(),
});

function bigInteger(name: string, min: bigint, max: bigint, codec: Codec<bigint>): Codec<bigint> {
  return {
    encode(writer, value) {
      if (value < min || value > max) {
        throw invalidField(name, `must be from ${min} to ${max}, is ${value}`);
      }
      codec.encode(writer, value);
    },
    decode: codec.decode,
  };
}

/** A signed integer of 64 bits. */
export const hyper = bigInteger("hyper", -(2n ** 63n), 2n ** 63n - 1n, {
  encode: (writer, value) => writer.int64(value),
  decode: (reader) => reader.int64(),
});

export const uhyper = bigInteger("uhyper", 0n, 2n ** 64n - 1n, {
  encode: (writer, value) => writer.uint64(value),
  decode: (reader) => reader.uint64(),
});

export const double: Codec<number> = {
  encode: (writer, value) => writer.double(value),
  decode: (reader) => reader.double(),
};

/** A boolean that libvirt encodes as an `int`: every number but 0 is true. */
export const bool: Codec<boolean> = {
  encode: (writer, value) => writer.int32(value ? 1 : 0),
  decode: (reader) => reader.int32() !== 0,
};

/** No bytes, for procedures without arguments or without a result. */
export const nothing: Codec<void> = { encode() {}, decode() {} };

/**
 * Text of at most `maxBytes` in UTF-8; invalid bytes become U+FFFD. NUL is rejected when encoding, since libvirt would
 * cut the text there and it might name something else.
 */
export function string(maxBytes: number): Codec<string> {
  return {
    encode(writer, value) {
      const bytes = Buffer.from(value, "utf8");
      if (bytes.includes(0)) {
        throw invalidField("string", "must not contain NUL");
      }
      writer.uint32(bounded(bytes.length, maxBytes));
      writer.padded(bytes);
    },
    decode: (reader) => reader.padded(reader.length(maxBytes)).toString("utf8"),
  };
}

/** Exactly `sizeBytes` arbitrary bytes. */
export function fixedOpaque(sizeBytes: number): Codec<Uint8Array> {
  return {
    encode(writer, value) {
      if (value.length !== sizeBytes) {
        throw invalidField("opaque", `must be ${sizeBytes} bytes, has ${value.length}`);
      }
      writer.padded(value);
    },
    decode: (reader) => reader.padded(sizeBytes),
  };
}

/** At most `maxBytes` arbitrary bytes. */
export function opaque(maxBytes: number): Codec<Uint8Array> {
  return {
    encode(writer, value) {
      writer.uint32(bounded(value.length, maxBytes));
      writer.padded(value);
    },
    decode: (reader) => reader.padded(reader.length(maxBytes)),
  };
}

/** At most `maxItems` items of one type; an item has at least four bytes. */
export function array<T>(item: Codec<T>, maxItems: number): Codec<readonly T[]> {
  return {
    encode(writer, values) {
      writer.uint32(bounded(values.length, maxItems));
      for (const value of values) {
        item.encode(writer, value);
      }
    },
    decode(reader) {
      const count = reader.count(maxItems);
      return Array.from({ length: count }, () => item.decode(reader));
    },
  };
}

/** An optional value; null if missing. */
export function optional<T>(codec: Codec<T>): Codec<T | null> {
  return {
    encode(writer, value) {
      writer.uint32(value === null ? 0 : 1);
      if (value !== null) {
        codec.encode(writer, value);
      }
    },
    decode: (reader) => (reader.count(1) === 0 ? null : codec.decode(reader)),
  };
}

type Fields = Readonly<Record<string, Codec<unknown>>>;

/** Fields in sequence, in the order of the description. */
export function struct<F extends Fields>(fields: F): Codec<{ readonly [K in keyof F]: Static<F[K]> }> {
  const entries = Object.entries(fields);
  return {
    encode(writer, value) {
      for (const [name, codec] of entries) {
        codec.encode(writer, value[name]);
      }
    },
    decode(reader) {
      const value: Record<string, unknown> = {};
      for (const [name, codec] of entries) {
        value[name] = codec.decode(reader);
      }
      return value as { readonly [K in keyof F]: Static<F[K]> };
    },
  };
}

type Arms = Readonly<Record<string, readonly [tag: number, codec: Codec<unknown>]>>;

type UnionOf<A extends Arms> = {
  readonly [K in keyof A]: { readonly type: K; readonly value: Static<A[K][1]> };
}[keyof A];

/** One of several arms, encoded with a number in front, represented by the arm's name. */
export function union<A extends Arms>(arms: A): Codec<UnionOf<A>> {
  const byTag = new Map(Object.entries(arms).map(([type, [tag, codec]]) => [tag, { type, codec }]));
  return {
    encode(writer, { type, value }) {
      const [tag, codec] = arms[type] as Arms[string];
      writer.int32(tag);
      codec.encode(writer, value);
    },
    decode(reader) {
      const tag = reader.int32();
      const arm = byTag.get(tag) ?? reader.fail(`a union has no arm ${tag}`);
      return { type: arm.type, value: arm.codec.decode(reader) } as UnionOf<A>;
    },
  };
}

/** Values of `codec`, converted to another type. */
export function mapped<T, U>(codec: Codec<T>, seen: (value: T) => U, wire: (value: U) => T): Codec<U> {
  return {
    encode: (writer, value) => codec.encode(writer, wire(value)),
    decode: (reader) => seen(codec.decode(reader)),
  };
}

function bounded(length: number, max: number): number {
  if (length > max) {
    throw invalidField("length", `must be at most ${max}, is ${length}`);
  }
  return length;
}
