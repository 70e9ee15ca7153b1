/** Returns the host's clock as nanoseconds since 1970. It may be set back. */
export function nowNs(): bigint {
  return BigInt(Date.now()) * 1_000_000n;
}
