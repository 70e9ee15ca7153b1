import { paddedBytes } from "./xdr-reader.ts";

/** Writes XDR into a growing buffer. */
export interface XdrWriter {
  int32(value: number): void;
  uint32(value: number): void;
  int64(value: bigint): void;
  uint64(value: bigint): void;
  double(value: number): void;
  /** Writes these bytes, and zeros up to a multiple of four. */
  padded(bytes: Uint8Array): void;
  /** Returns the written bytes. The writer must not be used afterwards. */
  finish(): Buffer;
}

const initialBytes = 256;

/** Returns a writer without content. Its numbers are big-endian (RFC 4506). */
export function createXdrWriter(): XdrWriter {
  let buffer = Buffer.alloc(initialBytes);
  let offset = 0;

  /** Reserves `sizeBytes` zero bytes and returns their offset. */
  function take(sizeBytes: number): number {
    const needed = offset + sizeBytes;
    if (needed > buffer.length) {
      const grown = Buffer.alloc(Math.max(needed, buffer.length * 2));
      buffer.copy(grown, 0, 0, offset);
      buffer = grown;
    }
    const at = offset;
    offset = needed;
    return at;
  }

  return {
    int32(value) {
      const at = take(4);
      buffer.writeInt32BE(value, at);
    },
    uint32(value) {
      const at = take(4);
      buffer.writeUInt32BE(value, at);
    },
    int64(value) {
      const at = take(8);
      buffer.writeBigInt64BE(value, at);
    },
    uint64(value) {
      const at = take(8);
      buffer.writeBigUInt64BE(value, at);
    },
    double(value) {
      const at = take(8);
      buffer.writeDoubleBE(value, at);
    },
    padded(bytes) {
      const at = take(paddedBytes(bytes.length));
      buffer.set(bytes, at);
    },
    finish: () => buffer.subarray(0, offset),
  };
}
