import { timestampMs } from "@bufbuild/protobuf/wkt";
import { type Operation, OperationState } from "../../../gen/hostplane/v1/operation_pb.ts";

/** Too early for an estimate: the first steps are rarely as fast as the others. */
const leastProgress = 0.02;
const leastElapsedMs = 3_000;

/**
 * Estimates how long an operation still runs, in milliseconds: as fast as so far. Undefined if that cannot be known, as after a
 * retry, since the progress was made in an earlier attempt.
 */
export function timeLeftMs(
  { state, progress, startedAt, attempt }: Pick<Operation, "state" | "progress" | "startedAt" | "attempt">,
  nowMs: number,
): number | undefined {
  if (state !== OperationState.ACTIVE || progress === undefined || startedAt === undefined || attempt > 1) {
    return undefined;
  }
  const elapsedMs = nowMs - timestampMs(startedAt);
  return progress < leastProgress || progress >= 1 || elapsedMs < leastElapsedMs
    ? undefined
    : (elapsedMs / progress) * (1 - progress);
}

const minuteMs = 60_000;

/** Formats an estimated duration with one unit: "40 s", "5 min", "2 h". */
export function roughDurationText(ms: number): string {
  if (ms < minuteMs) {
    return `${Math.max(5, Math.round(ms / 5_000) * 5)} s`;
  }
  const minutes = Math.round(ms / minuteMs);
  return minutes < 60 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}
