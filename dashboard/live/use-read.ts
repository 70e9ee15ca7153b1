import type { CallOptions } from "@connectrpc/connect";
import { type Signal, useSignal } from "@preact/signals";
import { useCallback, useEffect, useRef } from "preact/hooks";
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

export interface ReadOptions {
  /** Topics of the events that can change the value. */
  readonly topics?: readonly string[];
  /** Reports whether an event of these topics changes the value. Default: every one. */
  readonly when?: (event: Event) => boolean;
  /** Identifies the value; another key starts a new read without the old value. */
  readonly key?: string;
}

/**
 * Reads a value at once, and again whenever an event of one of the topics reports a possible change, when a lost connection is
 * back, and when `reload` is called. It never polls. The last value stays during a read.
 */
export function useRead<T>(
  read: (options: CallOptions) => Promise<T>,
  options: ReadOptions = {},
): { readonly reading: Signal<Reading<T>>; readonly reload: () => void } {
  const reading = useSignal<Reading<T>>({ value: undefined, error: undefined, isReading: true });
  const { topics = [], when = () => true, key = "" } = options;
  const latest = useRef({ read, when });
  latest.current = { read, when };
  const begin = useRef(() => {});
  const watched = topics.join(" ");

  useEffect(() => {
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let round = 0;
    const begins = async () => {
      round += 1;
      const mine = round;
      reading.value = { ...reading.peek(), isReading: true };
      try {
        const value = await latest.current.read({ signal: stop.signal });
        if (mine === round && !stop.signal.aborted) {
          reading.value = { value, error: undefined, isReading: false };
        }
      } catch (error) {
        if (mine === round && !stop.signal.aborted) {
          reading.value = { ...reading.peek(), error, isReading: false };
        }
      }
    };
    begin.current = () => void begins();
    reading.value = { value: undefined, error: undefined, isReading: true };
    void begins();
    const forget = onEvent((event) => {
      if (event === "resumed" || (watched.split(" ").includes(event.topic) && latest.current.when(event))) {
        timer ??= setTimeout(() => {
          timer = undefined;
          void begins();
        }, settleMs);
      }
    });
    return () => {
      stop.abort();
      clearTimeout(timer);
      forget();
    };
  }, [watched, key, reading]);

  return { reading, reload: useCallback(() => begin.current(), []) };
}
