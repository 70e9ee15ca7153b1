import { type InfraError, invalidField } from "../../../../adapters/host/infra-error.ts";
import { bytesPerGiB, type RequestedSize, sizeGbFromBytes } from "../size.ts";

/**
 * Returns the size of a request that has `size_gb`, `size_bytes`, or both. Clients from TopoLVM 0.23 to 0.36.4 send both,
 * with `size_gb` rounded down.
 * @throws InfraError INVALID_FIELD when the two contradict each other
 */
export function requestedSizeFrom({
  sizeGb,
  sizeBytes,
}: {
  readonly sizeGb: bigint;
  readonly sizeBytes?: bigint | undefined;
}): RequestedSize {
  if (sizeBytes === undefined) {
    return { gib: sizeGb };
  }
  const isRounded =
    sizeGb === 0n || sizeGb === sizeBytes / bytesPerGiB || sizeGb === sizeGbFromBytes(sizeBytes);
  if (!isRounded) {
    throw contradiction(
      "size_gb",
      "size_bytes",
      `${sizeGb} GiB is not ${sizeBytes} bytes, rounded up or down`,
    );
  }
  return { bytes: sizeBytes };
}

/** Creates the error for two fields of a request that contradict each other. */
export function contradiction(field: string, other: string, why: string): InfraError {
  return invalidField(field, `contradicts ${other}: ${why}`);
}
