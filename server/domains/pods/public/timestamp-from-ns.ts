import { create } from "@bufbuild/protobuf";
import { type Timestamp, TimestampSchema } from "@bufbuild/protobuf/wkt";

/** Converts nanoseconds since 1970 to a timestamp; earlier times are negative. */
export function timestampFromNs(timeNs: bigint): Timestamp {
  const nanos = ((timeNs % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n;
  return create(TimestampSchema, { seconds: (timeNs - nanos) / 1_000_000_000n, nanos: Number(nanos) });
}
