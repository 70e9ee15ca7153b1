import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";

/** Formats a time in UTC; empty if there is none. */
export function timeText(time: Timestamp | undefined): string {
  return time === undefined ? "" : timestampDate(time).toISOString();
}
