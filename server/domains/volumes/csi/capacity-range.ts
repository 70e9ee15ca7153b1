import { InfraError, invalidField } from "../../../../adapters/host/infra-error.ts";
import type { CapacityRange as CapacityRangeMessage } from "../../../../gen/csi/v1/csi_pb.ts";
import { roundUpToExtents } from "../../../lvm/extents.ts";
import { csiReasons } from "./reasons.ts";

/** The sizes that a volume may have, in bytes. */
export interface CapacityRange {
  /** 0: none. */
  readonly requiredBytes: bigint;
  /** Undefined: none. */
  readonly limitBytes: bigint | undefined;
}

/** The range of a request without limits. */
export const noLimits: CapacityRange = { requiredBytes: 0n, limitBytes: undefined };

/** Parses a range; an absent one has no limits. @throws InfraError INVALID_FIELD */
export function parseCapacityRange(range: CapacityRangeMessage | undefined): CapacityRange {
  const { requiredBytes = 0n, limitBytes = 0n } = range ?? {};
  if (requiredBytes < 0n) {
    throw invalidField("capacity_range.required_bytes", `must be at least 0, is ${requiredBytes}`);
  }
  if (limitBytes < 0n) {
    throw invalidField("capacity_range.limit_bytes", `must be at least 0, is ${limitBytes}`);
  }
  if (limitBytes !== 0n && limitBytes < requiredBytes) {
    throw invalidField(
      "capacity_range.limit_bytes",
      `must be 0 or at least required_bytes (${requiredBytes}), is ${limitBytes}`,
    );
  }
  return { requiredBytes, limitBytes: limitBytes === 0n ? undefined : limitBytes };
}

/** Reports whether a size is within a range. */
export function isInRange(sizeBytes: bigint, { requiredBytes, limitBytes }: CapacityRange): boolean {
  return sizeBytes >= requiredBytes && (limitBytes === undefined || sizeBytes <= limitBytes);
}

/**
 * Returns the smallest size within a range that is not below `leastBytes`, in whole units, at least one.
 * @throws InfraError CSI_CAPACITY
 */
export function sizeWithin(range: CapacityRange, leastBytes: bigint, unitBytes: bigint): bigint {
  const neededBytes = range.requiredBytes > leastBytes ? range.requiredBytes : leastBytes;
  const sizeBytes = neededBytes === 0n ? unitBytes : roundUpToExtents(neededBytes, unitBytes);
  if (range.limitBytes !== undefined && sizeBytes > range.limitBytes) {
    throw new InfraError(
      csiReasons.CSI_CAPACITY,
      `the smallest possible size is ${sizeBytes} bytes (volumes are allocated in units of ${unitBytes}), which is above limit_bytes ${range.limitBytes}`,
    );
  }
  return sizeBytes;
}
