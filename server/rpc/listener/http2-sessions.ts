import type { Http2SecureServer, Http2Server, ServerHttp2Session } from "node:http2";

/**
 * Keeps account of a server's HTTP/2 sessions: Node closes none of them with the server, and lets a
 * dead peer's session live for ever.
 */
export interface Http2Sessions {
  /** Tells all clients to open no more streams; each session ends with its last stream. */
  close(): void;
  /** Ends what is left. */
  destroy(): void;
  readonly size: number;
}

/**
 * Pings each session every `keepAliveMs`, which also keeps proxies from cutting idle streams, and destroys
 * one whose last ping is still unanswered when the next is due, or that has sent no SETTINGS behind its preface in time.
 */
export function trackHttp2Sessions(
  server: Http2Server | Http2SecureServer,
  keepAliveMs: number,
  settingsTimeoutMs: number,
): Http2Sessions {
  const sessions = new Set<ServerHttp2Session>();
  server.on("session", (session: ServerHttp2Session) => {
    sessions.add(session);
    let isAnswered = true;
    const timer = setInterval(() => {
      // One that is destroyed already throws at a ping, and its `close` may take longer than this timer.
      if (!isAnswered || session.destroyed) {
        session.destroy();
        return;
      }
      isAnswered = false;
      session.ping((error) => {
        isAnswered = error === null;
      });
    }, keepAliveMs);
    timer.unref();
    const settingsTimer = setTimeout(() => session.destroy(), settingsTimeoutMs);
    settingsTimer.unref();
    session.once("remoteSettings", () => clearTimeout(settingsTimer));
    session.once("close", () => {
      clearTimeout(settingsTimer);
      clearInterval(timer);
      sessions.delete(session);
    });
    // What breaks a session (a reset connection, a malformed frame) is the peer's; `close` follows.
    session.on("error", () => {});
  });
  return {
    close() {
      for (const session of sessions) {
        session.close();
      }
    },
    destroy() {
      for (const session of sessions) {
        session.destroy();
      }
    },
    get size() {
      return sessions.size;
    },
  };
}
