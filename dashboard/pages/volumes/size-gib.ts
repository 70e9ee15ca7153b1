import { parseSize } from "../../parts/form/parse-size.ts";

const gibBytes = 1n << 30n;

/**
 * Parses a size as people write it, in powers of 1024: "10" and "10 GiB" are 10 GiB, "1.5 TiB" is 1536.
 * @returns whole GiB, the contract's unit for volumes
 * @throws RangeError that says what is expected
 */
export function parseSizeGib(text: string): bigint {
  const bytes = parseSize(text, "g");
  if (bytes % gibBytes !== 0n) {
    throw new RangeError("must be whole GiB");
  }
  return bytes / gibBytes;
}
