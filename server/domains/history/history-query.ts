import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { invalidField } from "../../../adapters/host/infra-error.ts";
import type { GetHistoryRequest } from "../../../gen/hostplane/v1/history_pb.ts";
import { type Grid, gridOf } from "../../history/resample.ts";

export interface HistoryQuery {
  readonly subjects: readonly string[];
  /** Empty: all. */
  readonly figures: ReadonlySet<string>;
  /** The requested range. The grid may begin before it. */
  readonly fromTick: number;
  readonly toTick: number;
  readonly grid: Grid;
}

const dayMs = 86_400_000;
const subjectsMax = 200;
const figuresMax = 64;
const nameMaxLength = 1024;
const pointsMax = 1440;
const defaultPoints = 60;
/** For all subjects together, so that an answer stays below the message limit. */
const allPointsMax = 50_000;
/** The range that one request may span; there is nothing older than a day. */
const rangeMaxMs = 31 * dayMs;

/**
 * Parses a request.
 * @param lastTick of the history; -1 if it has none
 * @throws InfraError INVALID_FIELD
 */
export function parseHistoryQuery(
  request: GetHistoryRequest,
  stepMs: number,
  lastTick: number,
  nowMs = Date.now(),
): HistoryQuery {
  const { subjects, figures, startTime, endTime, points } = request;
  assertNames("subjects", subjects, subjectsMax);
  assertNames("figures", figures, figuresMax);
  if (subjects.length === 0) {
    throw invalidField("subjects", "expected at least one name");
  }
  const most = Math.min(pointsMax, Math.floor(allPointsMax / subjects.length));
  if (points < 0 || points > most) {
    const what = subjects.length === 1 ? "one subject" : `${subjects.length} subjects`;
    throw invalidField("points", `expected 0 to ${most} for ${what}`);
  }
  const endMs = endTime === undefined ? defaultEndMs(stepMs, lastTick, nowMs) : msOf("end_time", endTime);
  const startMs = startTime === undefined ? endMs - dayMs : msOf("start_time", startTime);
  if (startMs >= endMs) {
    throw invalidField("start_time", "expected a time before the end");
  }
  if (endMs - startMs > rangeMaxMs) {
    throw invalidField("start_time", "expected at most 31 days before the end");
  }
  const fromTick = Math.max(0, Math.floor(startMs / stepMs));
  const toTick = Math.max(fromTick + 1, Math.ceil(endMs / stepMs));
  const grid = gridOf(fromTick, toTick, points === 0 ? Math.min(defaultPoints, most) : points);
  return { subjects: [...new Set(subjects)], figures: new Set(figures), fromTick, toTick, grid };
}

/** Ends with the last turn if that is recent: the present step may not have been sampled yet. */
function defaultEndMs(stepMs: number, lastTick: number, nowMs: number): number {
  const nowTick = Math.floor(nowMs / stepMs);
  return (lastTick === nowTick - 1 ? nowTick : nowTick + 1) * stepMs;
}

function assertNames(field: string, names: readonly string[], max: number): void {
  if (names.length > max) {
    throw invalidField(field, `expected at most ${max} names`);
  }
  const wrong = names.findIndex((name) => name === "" || name.length > nameMaxLength);
  if (wrong !== -1) {
    throw invalidField(`${field}[${wrong}]`, `expected 1 to ${nameMaxLength} characters`);
  }
}

function msOf(field: string, time: Timestamp): number {
  const ms = timestampMs(time);
  // Ticks are 32 bits in the history.
  if (!(ms >= 0 && ms <= 4_000_000_000_000)) {
    throw invalidField(field, "expected a time after 1970 and before 2096");
  }
  return ms;
}
