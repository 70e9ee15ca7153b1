import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { durationText } from "../../parts/duration-text.ts";

/** How long something took from its beginning to its end; empty unless it has both. */
export function tookText(of: {
  readonly startedAt?: Timestamp | undefined;
  readonly endedAt?: Timestamp | undefined;
}): string {
  const { startedAt, endedAt } = of;
  return startedAt === undefined || endedAt === undefined
    ? ""
    : durationText(timestampMs(endedAt) - timestampMs(startedAt));
}
