import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { client } from "../session.ts";
import { type HistoryReading, historyReadingOf } from "./history-reading.ts";
import { whileVisible } from "./while-visible.ts";

/** The gateway samples once a minute: a shorter pause would read the same again. */
const refreshMs = 60_000;

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
          const response = await client.history.getHistory({ subjects: key.split("\n"), points }, { signal });
          reading.value = { value: historyReadingOf(response), error: undefined };
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
