import { promisify } from "node:util";
import * as zlib from "node:zlib";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Compression } from "@connectrpc/connect/protocol";

/**
 * Brotli's default quality (11) costs 50 ms of CPU for a list of 30 KB, which any caller could request. Quality 4 costs less than
 * gzip and compresses as well.
 */
const brotliQuality = 4;

/** Messages smaller than this are not compressed, as in connect-es. */
export const compressMinBytes = 1024;

const gzip = promisify(zlib.gzip);
const gunzip = promisify(zlib.gunzip);
const brotliCompress = promisify<Uint8Array, zlib.BrotliOptions, Buffer<ArrayBuffer>>(zlib.brotliCompress);
const brotliDecompress = promisify<Uint8Array, zlib.BrotliOptions, Buffer<ArrayBuffer>>(
  zlib.brotliDecompress,
);

/** The supported compressions, in order of preference. */
export const compressions: Compression[] = [
  {
    name: "gzip",
    compress: (bytes) => gzip(bytes),
    decompress: (bytes, readMaxBytes) =>
      decompressed(bytes, readMaxBytes, () => gunzip(bytes, { maxOutputLength: readMaxBytes })),
  },
  {
    name: "br",
    compress: (bytes) =>
      brotliCompress(bytes, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: brotliQuality } }),
    decompress: (bytes, readMaxBytes) =>
      decompressed(bytes, readMaxBytes, () => brotliDecompress(bytes, { maxOutputLength: readMaxBytes })),
  },
];

async function decompressed(
  bytes: Uint8Array,
  readMaxBytes: number,
  inflate: () => Promise<Buffer<ArrayBuffer>>,
): Promise<Uint8Array<ArrayBuffer>> {
  if (bytes.byteLength === 0) {
    return new Uint8Array(0);
  }
  try {
    return await inflate();
  } catch (error) {
    if (error instanceof RangeError) {
      throw new ConnectError(
        `message size is larger than configured readMaxBytes ${readMaxBytes} after decompression`,
        Code.ResourceExhausted,
      );
    }
    throw new ConnectError("decompression failed", Code.InvalidArgument);
  }
}
