import type { CallOptions } from "@connectrpc/connect";
import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { ConnectionState } from "../../client/client.ts";
import { client } from "../session.ts";
import { whileVisible } from "./while-visible.ts";

/** The newest message of a stream, and the error that ended it, if any. */
export interface Watching<T> {
  readonly value: T | undefined;
  readonly error: unknown;
}

export interface WatchOptions<T> {
  /** Identifies the stream; another key opens another stream. */
  readonly key?: string;
  readonly onMessage?: (message: T) => void;
  /** Called when no more messages are received for now: the connection is lost, or the page is hidden or left. */
  readonly onSilence?: () => void;
}

/**
 * Follows a stream whose every message is the whole state, while the component is shown. The stream is opened again after a lost
 * connection, and when a page that was hidden for a while is shown again. Without such a stream, use `useRead`.
 */
export function useWatch<T>(
  open: (options: CallOptions) => AsyncIterable<T>,
  options: WatchOptions<T> = {},
): Signal<Watching<T>> {
  const watching = useSignal<Watching<T>>({ value: undefined, error: undefined });
  const { key = "", onMessage, onSilence } = options;
  const latest = useRef({ open, onMessage, onSilence });
  latest.current = { open, onMessage, onSilence };

  useEffect(() => {
    watching.value = { value: undefined, error: undefined };
    const follow = async (signal: AbortSignal) => {
      try {
        const onState = ({ state }: ConnectionState) => state === "lost" && latest.current.onSilence?.();
        const call = (callOptions: CallOptions) => latest.current.open(callOptions);
        for await (const value of client.watch(call, { signal, onState })) {
          watching.value = { value, error: undefined };
          latest.current.onMessage?.(value);
        }
      } catch (error) {
        if (!signal.aborted) {
          watching.value = { ...watching.peek(), error };
        }
      } finally {
        latest.current.onSilence?.();
      }
    };
    return whileVisible((signal) => void follow(signal));
  }, [key, watching]);

  return watching;
}
