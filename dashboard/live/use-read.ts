import type { CallOptions } from "@connectrpc/connect";
import { type Signal, useSignal } from "@preact/signals";
import { useCallback, useEffect, useRef } from "preact/hooks";
import type { Event } from "../../gen/hostplane/v1/event_pb.ts";
import { followRead, type Reading } from "./follow-read.ts";

export type { Reading };

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
    const { reload, end } = followRead(
      reading,
      (callOptions) => latest.current.read(callOptions),
      (event) => watched.split(" ").includes(event.topic) && latest.current.when(event),
    );
    begin.current = reload;
    return end;
  }, [watched, key, reading]);

  return { reading, reload: useCallback(() => begin.current(), []) };
}
