import { invalidField } from "../../../../adapters/host/infra-error.ts";
import type { GetLogsRequest } from "../../../../gen/v1alpha/api_pb.ts";

/** Which lines are wanted. */
export interface WantedLines {
  /** As many of the newest; Infinity for all. */
  readonly maxLines: number;
  /** From when on, and before when, nanoseconds since 1970. */
  readonly sinceNs?: bigint;
  readonly untilNs?: bigint;
}

// The end of the year 9999.
const maxSeconds = 253_402_300_799n;

/** @throws InfraError INVALID_FIELD */
export function parseLogRequest(
  request: Pick<GetLogsRequest, "lines" | "sinceTime" | "untilTime">,
): WantedLines {
  const { lines, sinceTime, untilTime } = request;
  if (lines < 0) {
    throw invalidField("lines", `must be 0 (all) or how many of the newest lines, not ${lines}`);
  }
  const sinceNs = nsFromSeconds("since_time", sinceTime);
  const untilNs = nsFromSeconds("until_time", untilTime);
  if (sinceNs !== undefined && untilNs !== undefined && untilNs <= sinceNs) {
    throw invalidField("until_time", "must be later than since_time");
  }
  return {
    maxLines: lines === 0 ? Number.POSITIVE_INFINITY : lines,
    ...(sinceNs !== undefined && { sinceNs }),
    ...(untilNs !== undefined && { untilNs }),
  };
}

function nsFromSeconds(field: string, seconds: bigint): bigint | undefined {
  if (seconds < 0n || seconds > maxSeconds) {
    throw invalidField(field, `must be 0 (none) or seconds since 1970 up to ${maxSeconds}, not ${seconds}`);
  }
  return seconds === 0n ? undefined : seconds * 1_000_000_000n;
}
