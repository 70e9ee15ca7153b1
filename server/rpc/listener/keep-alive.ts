import type { Http2Session } from "node:http2";
import type { Duplex } from "node:stream";

/**
 * Pings the other side of a session, and destroys the session if a ping is not answered before the next one is due. A host that
 * was switched off, or a network that drops packets, shows in no other way.
 * @param connection is destroyed as well. Node only ends it if the other side has sent GOAWAY, and then waits for that side to
 * close it, without a time limit.
 */
export function keepAlive(session: Http2Session, everyMs: number, connection?: Duplex): void {
  let isAnswered = true;
  const timer = setInterval(() => {
    // A destroyed session throws at a ping, and its `close` event may come after this timer.
    if (!isAnswered || session.destroyed) {
      session.destroy();
      connection?.destroy();
      return;
    }
    isAnswered = false;
    session.ping((error) => {
      isAnswered = error === null;
    });
  }, everyMs).unref();
  session.once("close", () => clearInterval(timer));
}
