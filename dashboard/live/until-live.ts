import { connection } from "./event-stream.ts";

/** What breaks one connection breaks that of the events as well, a moment later. */
const noticeMs = 1_000;

/** Longer than a gateway takes to begin anew. */
const patienceMs = 60_000;

/** Waits, after a call has lost its connection, until the page hears the gateway again; at most a minute. */
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
