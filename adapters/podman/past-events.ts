import type { EventPlace, RuntimeEvent } from "./adapter.ts";
import type { PodmanClient } from "./client.ts";
import { nowNs } from "./clock.ts";
import type { EventInterpreter } from "./event-meaning.ts";
import { gapEvent } from "./event-queue.ts";
import { readRecords } from "./event-stream.ts";

/** A record, and what it tells, which for most is nothing. */
export interface PastRecord extends EventPlace {
  readonly event: RuntimeEvent | undefined;
}

export interface PastAfter {
  /** All that were read: those before the place, too. */
  readonly records: readonly PastRecord[];
  /** What comes after the place, or a gap and what is later than it. */
  readonly events: readonly RuntimeEvent[];
}

/** Reads what Podman has recorded and keeps. */
export interface PastReader {
  /** What was recorded since then, each once, in its order, and a few from before. @throws InfraError as the client */
  read(sinceNs: bigint, signal?: AbortSignal): Promise<readonly PastRecord[]>;
  /** @param sinceNs what was recorded since then is read in any case. @throws InfraError as the client */
  readAfter(after: EventPlace, sinceNs: bigint, signal: AbortSignal): Promise<PastAfter>;
}

export function createPastReader(client: PodmanClient, interpreter: EventInterpreter): PastReader {
  async function read(sinceNs: bigint, signal?: AbortSignal): Promise<readonly PastRecord[]> {
    const reader = interpreter.copy();
    const found = await readRecords(client, sinceNs, signal);
    reader.foresee(found);
    const records = new Map(found.map((record) => [record.key, record]));
    return [...records.values()].map((record) => {
      const { key, timeNs } = record;
      return { key, timeNs, event: reader.read(record).event };
    });
  }

  return {
    read,
    async readAfter({ key, timeNs }, sinceNs, signal) {
      const isPlace = (record: PastRecord) => record.key === key;
      // The clock was set back if the place is to come yet: then what was recorded after it has an earlier time.
      const windowNs = timeNs > nowNs() ? 0n : timeNs < sinceNs ? timeNs : sinceNs;
      const window = await read(windowNs, signal);
      const records = window.some(isPlace) || windowNs === 0n ? window : await read(0n, signal);
      const at = records.findIndex(isPlace);
      const later = at === -1 ? records.filter((each) => each.timeNs > timeNs) : records.slice(at + 1);
      const events = later.flatMap(({ event }) => event ?? []);
      return { records, events: at === -1 ? [gapEvent(timeNs, nowNs(), records.at(-1)), ...events] : events };
    },
  };
}
