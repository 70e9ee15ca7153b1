import type { EventPlace, RuntimeEvent } from "../adapter.ts";
import type { PodmanClient } from "../client.ts";
import { nowNs } from "../clock.ts";
import type { EventInterpreter } from "./event-meaning.ts";
import { gapEvent } from "./event-queue.ts";
import { readRecords } from "./event-stream.ts";

/** A record and the event that it stands for; most have none. */
export interface PastRecord extends EventPlace {
  readonly event: RuntimeEvent | undefined;
}

export interface PastAfter {
  /** All records that were read, including those before the place. */
  readonly records: readonly PastRecord[];
  /** The events after the place, or a gap and the events with a later time. */
  readonly events: readonly RuntimeEvent[];
}

/** Reads past records that Podman still has. */
export interface PastReader {
  /**
   * Returns the records since then, each once, in Podman's order, and a few earlier ones. @throws InfraError as the
   * client
   */
  read(sinceNs: bigint, signal?: AbortSignal): Promise<readonly PastRecord[]>;
  /**
   * Reads the events after a place. @param sinceNs records since then are always read. @throws InfraError as the client
   */
  readAfter(after: EventPlace, sinceNs: bigint, signal: AbortSignal): Promise<PastAfter>;
}

/** Reads with a copy of the interpreter, so that the past does not change what the running stream knows. */
export function createPastReader(client: PodmanClient, interpreter: EventInterpreter): PastReader {
  async function read(sinceNs: bigint, signal?: AbortSignal): Promise<readonly PastRecord[]> {
    const reader = interpreter.copy();
    const found = await readRecords(client, sinceNs, signal);
    reader.preview(found);
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
      // A place in the future means that the clock was set back: records after it have an earlier time.
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
