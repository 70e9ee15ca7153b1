import type { CallOptions } from "@connectrpc/connect";
import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { client } from "../session.ts";
import { whileVisible } from "./while-visible.ts";

/** The newest message of a stream, and why it ended if it did. */
export interface Watching<T> {
  readonly value: T | undefined;
  readonly error: unknown;
}

/**
 * Follows a stream whose messages each tell the whole state, as long as the component is shown; begun anew after a lost
 * connection, and when a page is shown that was hidden for a while. For what has no such stream there is `useRead`. A page
 * opens at most two.
 * @param key what the stream depends on; another key is another stream
 */
export function useWatch<T>(
  open: (options: CallOptions) => AsyncIterable<T>,
  { key = "", onMessage }: { readonly key?: string; readonly onMessage?: (message: T) => void } = {},
): Signal<Watching<T>> {
  const watching = useSignal<Watching<T>>({ value: undefined, error: undefined });
  const latest = useRef({ open, onMessage });
  latest.current = { open, onMessage };

  useEffect(() => {
    watching.value = { value: undefined, error: undefined };
    const follow = async (signal: AbortSignal) => {
      try {
        for await (const value of client.watch((options) => latest.current.open(options), { signal })) {
          watching.value = { value, error: undefined };
          latest.current.onMessage?.(value);
        }
      } catch (error) {
        if (!signal.aborted) {
          watching.value = { ...watching.peek(), error };
        }
      }
    };
    return whileVisible((signal) => void follow(signal));
  }, [key, watching]);

  return watching;
}
