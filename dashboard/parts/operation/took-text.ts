import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { durationText } from "../text/duration-text.ts";

/** Returns the time from start to end; empty unless both are known. */
export function tookText(of: {
  readonly startedAt?: Timestamp | undefined;
  readonly endedAt?: Timestamp | undefined;
}): string {
  const { startedAt, endedAt } = of;
  return startedAt === undefined || endedAt === undefined
    ? ""
    : durationText(timestampMs(endedAt) - timestampMs(startedAt));
}
