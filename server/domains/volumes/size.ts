import { invalidField } from "../../../adapters/host/infra-error.ts";

export const bytesPerGiB = 1n << 30n;

/** The first size, in GiB, whose bytes no longer fit the 64 bits that LVM counts in. */
const sizeLimitGiB = 1n << 34n;

/** A size as a request gives it: `size_gb`, or `size_bytes` of today's lvmd protocol. */
export type WantedSize = { readonly gib: bigint } | { readonly bytes: bigint };

/**
 * Bytes of a size that a request gives.
 * @throws InfraError INVALID_FIELD for 0 or less, and for 2^34 GiB or more, which the original wrapped to a small number
 */
export function bytesFromSize(size: WantedSize): bigint {
  if ("gib" in size) {
    return bytesFromSizeGb(size.gib);
  }
  if (size.bytes < 1n) {
    throw invalidField("size_bytes", `must be at least 1, is ${size.bytes}`);
  }
  return size.bytes;
}

function bytesFromSizeGb(sizeGb: bigint): bigint {
  if (sizeGb < 1n) {
    throw invalidField("size_gb", "must be at least 1");
  }
  if (sizeGb >= sizeLimitGiB) {
    throw invalidField("size_gb", `must be below ${sizeLimitGiB} (2^34 GiB), is ${sizeGb}`);
  }
  return sizeGb * bytesPerGiB;
}

/** A size in GiB as all answers give it: rounded up, so that it is never less than the volume. */
export function sizeGbFromBytes(sizeBytes: bigint): bigint {
  return (sizeBytes + bytesPerGiB - 1n) / bytesPerGiB;
}
