import { invalidField } from "../../../adapters/host/infra-error.ts";

export const bytesPerGiB = 1n << 30n;

/** Smallest size, in GiB, whose byte count no longer fits LVM's 64-bit integers. */
const sizeLimitGiB = 1n << 34n;

/** A size as a request gives it: `size_gb`, or `size_bytes` of the current lvmd protocol. */
export type RequestedSize = { readonly gib: bigint } | { readonly bytes: bigint };

/**
 * Converts a requested size to bytes.
 * @throws InfraError INVALID_FIELD for 0 or less, and for 2^34 GiB or more, which the original server wrapped to a small number
 */
export function bytesFromSize(size: RequestedSize): bigint {
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

/** Converts bytes to GiB as responses report them: rounded up, so that the value is never below the volume's size. */
export function sizeGbFromBytes(sizeBytes: bigint): bigint {
  return (sizeBytes + bytesPerGiB - 1n) / bytesPerGiB;
}
