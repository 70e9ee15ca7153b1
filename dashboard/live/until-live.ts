import { connection } from "./event-stream.ts";

/** A broken connection usually breaks the event stream as well, a moment later. */
const noticeMs = 1_000;

/** Longer than a restart of the gateway takes. */
const patienceMs = 60_000;

/** Waits, after a call has lost its connection, until the event stream is live again; at most a minute. */
export async function untilLive(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, noticeMs));
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, patienceMs);
  const unsubscribe = connection.subscribe(({ state }) => {
    if (state === "live") {
      resolve();
    }
  });
  await promise;
  unsubscribe();
  clearTimeout(timer);
}
