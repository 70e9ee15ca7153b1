import { type Signal, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { client } from "../session.ts";
import { historyReadingOf, type SubjectSeries } from "./history-reading.ts";

/** Rows that come into view together are read by one call. */
const gatherMs = 60;
/** A row that was in view is read again after this time, when it comes into view again. */
const keptMs = 60_000;
/** The most that one call returns. */
const subjectsPerCall = 200;
/** A sparkline is 76 px wide. */
const points = 48;

interface Entry {
  readonly series: Signal<SubjectSeries | undefined>;
  readAtMs: number;
}

const entries = new Map<string, Entry>();
let waiting = new Set<string>();

/** The last 24 hours of resources, for a row's sparkline, in their order; undefined until it is read, or if there is none. */
export function useRowHistories(resources: readonly string[]): readonly (SubjectSeries | undefined)[] {
  useEffect(() => resources.forEach(request), [resources.join("\n")]);
  return resources.map((resource) => entryOf(resource).series.value);
}

/** Forgets what was read, so that the next user sees only their own. */
export function forgetRowHistory(): void {
  entries.clear();
  waiting.clear();
}

function entryOf(resource: string): Entry {
  const known = entries.get(resource);
  if (known !== undefined) {
    return known;
  }
  const entry: Entry = { series: signal(undefined), readAtMs: 0 };
  entries.set(resource, entry);
  return entry;
}

function request(resource: string): void {
  const entry = entryOf(resource);
  if (Date.now() - entry.readAtMs < keptMs) {
    return;
  }
  entry.readAtMs = Date.now();
  if (waiting.size === 0) {
    setTimeout(() => void readWaiting(), gatherMs);
  }
  waiting.add(resource);
}

async function readWaiting(): Promise<void> {
  const all = [...waiting];
  waiting = new Set();
  for (let start = 0; start < all.length; start += subjectsPerCall) {
    try {
      const subjects = all.slice(start, start + subjectsPerCall);
      const reading = historyReadingOf(await client.history.getHistory({ subjects, points }));
      for (const [name, series] of reading.subjects) {
        const entry = entries.get(name);
        if (entry !== undefined) {
          entry.series.value = series;
        }
      }
    } catch {
      // A row without a sparkline is complete; the page of the resource shows the error.
    }
  }
}
