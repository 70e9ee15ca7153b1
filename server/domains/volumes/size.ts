import { invalidField } from "../../../adapters/host/infra-error.ts";

export const bytesPerGiB = 1n << 30n;

/** The first size, in GiB, whose bytes no longer fit the 64 bits that LVM counts in. */
const sizeLimitGiB = 1n << 34n;

/**
 * Bytes of a size that a request gives in GiB.
 * @throws InfraError INVALID_FIELD for 0 and for 2^34 GiB or more, which the original wrapped to a small number
 */
export function bytesFromSizeGb(sizeGb: bigint): bigint {
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
