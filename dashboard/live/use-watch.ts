import type { CallOptions } from "@connectrpc/connect";
import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { ConnectionState } from "../../client/client.ts";
import { client } from "../session.ts";
import { whileVisible } from "./while-visible.ts";

/** The newest message of a stream, and why it ended if it did. */
export interface Watching<T> {
  readonly value: T | undefined;
  readonly error: unknown;
}

export interface WatchOptions<T> {
  /** What the stream depends on; another key is another stream. */
  readonly key?: string;
  readonly onMessage?: (message: T) => void;
  /** Called when from now on nobody listens, until the next message: the connection is lost, the page hidden or left. */
  readonly onSilence?: () => void;
}

/**
 * Follows a stream whose messages each tell the whole state, as long as the component is shown; begun anew after a lost
 * connection, and when a page is shown that was hidden for a while. For what has no such stream there is `useRead`. A page
 * opens at most two.
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
