import { durationMs, timestampMs } from "@bufbuild/protobuf/wkt";
import type { GetHistoryResponse, SubjectHistory } from "../../gen/hostplane/v1/history_pb.ts";

/** The history of a subject, with a value for each interval. */
export interface SubjectSeries {
  /** By the name of the figure; undefined where nothing is known. */
  readonly figures: ReadonlyMap<string, Series>;
  readonly states: SubjectHistory["states"];
}

export interface Series {
  readonly unit: string;
  readonly values: readonly (number | undefined)[];
}

/** The history of several subjects, whose series have the same intervals. */
export interface HistoryReading {
  /** Start of the first interval, milliseconds since 1970. */
  readonly startMs: number;
  readonly intervalMs: number;
  readonly subjects: ReadonlyMap<string, SubjectSeries>;
}

/** Expands the runs of a response to a value for each interval. */
export function historyReadingOf({
  startTime,
  interval,
  points,
  subjects,
}: GetHistoryResponse): HistoryReading {
  return {
    startMs: startTime === undefined ? 0 : timestampMs(startTime),
    intervalMs: interval === undefined ? 0 : durationMs(interval),
    subjects: new Map(
      subjects.map(({ subject, figures, states }) => [
        subject,
        {
          states,
          figures: new Map(
            figures.map(({ name, unit, starts, lengths, values }) => [
              name,
              { unit, values: valuesOf(points, starts, lengths, values) },
            ]),
          ),
        },
      ]),
    ),
  };
}

function valuesOf(
  points: number,
  starts: readonly number[],
  lengths: readonly number[],
  values: readonly number[],
): readonly (number | undefined)[] {
  const all = new Array<number | undefined>(points).fill(undefined);
  starts.forEach((start, run) => {
    all.fill(values[run], start, start + (lengths[run] ?? 0));
  });
  return all;
}
