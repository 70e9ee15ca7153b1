import { timestampMs } from "@bufbuild/protobuf/wkt";
import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { GetHistoryResponse } from "../../gen/hostplane/v1/history_pb.ts";
import { client } from "../session.ts";
import { type HistoryReading, historyReadingOf } from "./history-reading.ts";
import { whileVisible } from "./while-visible.ts";

/** The gateway samples once a minute: a shorter pause would read the same again. */
const refreshMs = 60_000;

const dayMs = 24 * 3_600_000;
/** A history that began in this last part of the day is shown from its beginning on. */
const youngShare = 0.75;

/**
 * The last 24 hours of subjects, read again every minute while the page is visible.
 * @param subjects names of resources, device classes and systems
 * @param points intervals of the 24 hours
 */
export function useHistory(
  subjects: readonly string[],
  points: number,
): Signal<{ readonly value: HistoryReading | undefined; readonly error: unknown }> {
  const reading = useSignal<{ value: HistoryReading | undefined; error: unknown }>({
    value: undefined,
    error: undefined,
  });
  const key = subjects.join("\n");
  useEffect(() => {
    reading.value = { value: undefined, error: undefined };
    if (key === "") {
      return undefined;
    }
    return whileVisible((signal) => {
      const read = async () => {
        try {
          reading.value = {
            value: historyReadingOf(await readDay(key.split("\n"), points, signal)),
            error: undefined,
          };
        } catch (error) {
          if (!signal.aborted) {
            reading.value = { ...reading.peek(), error };
          }
        }
      };
      void read();
      const timer = setInterval(() => void read(), refreshMs);
      signal.addEventListener("abort", () => clearInterval(timer));
    });
  }, [key, points, reading]);
  return reading;
}

/** The last 24 hours, or all that there is: a history of minutes would be one point of a day. */
async function readDay(
  subjects: readonly string[],
  points: number,
  signal: AbortSignal,
): Promise<GetHistoryResponse> {
  const day = await client.history.getHistory({ subjects: [...subjects], points }, { signal });
  const { beginTime, startTime } = day;
  return beginTime === undefined ||
    startTime === undefined ||
    timestampMs(beginTime) <= timestampMs(startTime) + youngShare * dayMs
    ? day
    : client.history.getHistory({ subjects: [...subjects], points, startTime: beginTime }, { signal });
}
