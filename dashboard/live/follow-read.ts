import type { CallOptions } from "@connectrpc/connect";
import type { Signal } from "@preact/signals";
import type { Event } from "../../gen/hostplane/v1/event_pb.ts";
import { onEvent } from "./event-stream.ts";

/** The last value, and the state of the current read. */
export interface Reading<T> {
  readonly value: T | undefined;
  readonly error: unknown;
  readonly isReading: boolean;
}

/**
 * Events that arrive together, such as those of one change, cause one read. A constant flow of events causes one read per
 * interval.
 */
const settleMs = 150;

/**
 * Reads a value at once, and again when an event may have changed it and when a lost connection is back. It never polls. The last
 * value stays during a read.
 * @param changes reports whether an event may have changed the value
 * @returns functions that read it again, and that end it
 */
export function followRead<T>(
  reading: Signal<Reading<T>>,
  read: (options: CallOptions) => Promise<T>,
  changes: (event: Event) => boolean,
): { readonly reload: () => void; readonly end: () => void } {
  const stop = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let round = 0;
  let isReading = false;
  let isOutdated = false;
  const begin = async () => {
    round += 1;
    const mine = round;
    const isCurrent = () => mine === round && !stop.signal.aborted;
    isReading = true;
    isOutdated = false;
    reading.value = { ...reading.peek(), isReading: true };
    try {
      const value = await read({ signal: stop.signal });
      if (isCurrent()) {
        reading.value = { value, error: undefined, isReading: false };
      }
    } catch (error) {
      if (isCurrent()) {
        reading.value = { ...reading.peek(), error, isReading: false };
      }
    }
    if (isCurrent()) {
      isReading = false;
      if (isOutdated) {
        beginSoon();
      }
    }
  };
  const beginSoon = () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      void begin();
    }, settleMs);
  };
  reading.value = { value: undefined, error: undefined, isReading: true };
  void begin();
  const forget = onEvent((event) => {
    // A read over a lost connection may never end.
    if (event === "resumed") {
      beginSoon();
    } else if (changes(event)) {
      // A read that is slower than the flow of events ends first, or none would ever end.
      isOutdated = true;
      if (!isReading) {
        beginSoon();
      }
    }
  });
  return {
    reload: () => void begin(),
    end() {
      stop.abort();
      clearTimeout(timer);
      forget();
    },
  };
}
