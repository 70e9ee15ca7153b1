import { invalidField } from "../../../../adapters/host/infra-error.ts";
import type { GetLogsRequest } from "../../../../gen/v1alpha/api_pb.ts";
import { parseSecondsWindow } from "../public/seconds-window.ts";

/** Selection of log lines. */
export interface LineSelection {
  /** Maximum number of the newest lines; Infinity for all. */
  readonly maxLines: number;
  /** Start (inclusive) and end (exclusive), nanoseconds since 1970. */
  readonly sinceNs?: bigint;
  readonly untilNs?: bigint;
}

/** Parses and validates a request. @throws InfraError INVALID_FIELD */
export function parseLogRequest(
  request: Pick<GetLogsRequest, "lines" | "sinceTime" | "untilTime">,
): LineSelection {
  const { lines } = request;
  if (lines < 0) {
    throw invalidField("lines", `must be 0 (all) or a number of lines, got ${lines}`);
  }
  const { sinceSeconds, untilSeconds } = parseSecondsWindow(request);
  return {
    maxLines: lines === 0 ? Number.POSITIVE_INFINITY : lines,
    ...(sinceSeconds !== undefined && { sinceNs: nsFrom(sinceSeconds) }),
    ...(untilSeconds !== undefined && { untilNs: nsFrom(untilSeconds) }),
  };
}

function nsFrom(seconds: bigint): bigint {
  return seconds * 1_000_000_000n;
}
