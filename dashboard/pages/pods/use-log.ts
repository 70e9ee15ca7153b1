import { batch, type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { ConnectionState } from "../../../client/client.ts";
import { whileVisible } from "../../live/while-visible.ts";
import { client } from "../../session.ts";
import { appendLines, emptyLog, type LogBuffer, maxLines } from "./log-buffer.ts";
import { createLogPlace } from "./log-place.ts";

/** State of the connection to a log; `resumedAtMs` is when a lost connection came back. */
export type LogState =
  | { readonly state: "connecting" | "lost" | "ended" }
  | { readonly state: "live"; readonly resumedAtMs?: number }
  | { readonly state: "failed"; readonly error: unknown };

/** Number of earlier lines to show. */
const firstLines = 500;

/**
 * Follows the log of a pod's app, or of all apps for "", while the component is shown. After a lost connection it continues
 * without gaps or repeats.
 */
export function useLog(podId: string, appName: string): { log: Signal<LogBuffer>; state: Signal<LogState> } {
  const log = useSignal<LogBuffer>(emptyLog);
  const state = useSignal<LogState>({ state: "connecting" });

  useEffect(() => {
    const place = createLogPlace();
    batch(() => {
      log.value = emptyLog;
      state.value = { state: "connecting" };
    });
    const follow = async (signal: AbortSignal) => {
      const messages = client.watch(
        (options) => {
          place.reconnect();
          const since = place.sinceSeconds;
          const from = since === undefined ? { lines: firstLines } : { lines: maxLines, sinceTime: since };
          return client.podApi.getLogs({ podId, appName, follow: true, ...from }, options);
        },
        {
          signal,
          onState: (now) => {
            state.value = stateAfter(state.peek(), now);
          },
        },
      );
      try {
        for await (const { lines } of messages) {
          log.value = appendLines(log.value, place.take(lines));
        }
        if (!signal.aborted) {
          state.value = { state: "ended" };
        }
      } catch (error) {
        if (!signal.aborted) {
          state.value = { state: "failed", error };
        }
      }
    };
    return whileVisible((signal) => void follow(signal));
  }, [podId, appName, log, state]);

  return { log, state };
}

/** A lost connection stays lost while it is retried. */
function stateAfter(before: LogState, { state }: ConnectionState): LogState {
  if (before.state !== "lost") {
    return { state };
  }
  return state === "live" ? { state, resumedAtMs: Date.now() } : before;
}
