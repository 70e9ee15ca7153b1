import type { Http2Session } from "node:http2";

/**
 * Pings the other side of a session, and destroys the session if a ping is not answered before the next one is due. A host that
 * was switched off, or a network that drops packets, shows in no other way.
 */
export function keepAlive(session: Http2Session, everyMs: number): void {
  let isAnswered = true;
  const timer = setInterval(() => {
    // A destroyed session throws at a ping, and its `close` event may come after this timer.
    if (!isAnswered || session.destroyed) {
      session.destroy();
      return;
    }
    isAnswered = false;
    session.ping((error) => {
      isAnswered = error === null;
    });
  }, everyMs).unref();
  session.once("close", () => clearInterval(timer));
}
