import type { Http2SecureServer, Http2Server, ServerHttp2Session } from "node:http2";
import { keepAlive } from "./keep-alive.ts";

/** Tracks a server's HTTP/2 sessions. Node closes none of them with the server, and keeps the session of a dead peer forever. */
export interface Http2Sessions {
  /** Makes clients open no more streams; each session ends with its last stream. */
  close(): void;
  /** Ends the remaining sessions. */
  destroy(): void;
  readonly size: number;
}

/**
 * Tracks sessions and pings each one every `keepAliveMs`, which also keeps proxies from cutting idle streams. Destroys a session
 * whose last ping is still unanswered when the next is due, or that has not sent SETTINGS after its preface in time.
 */
export function trackHttp2Sessions(
  server: Http2Server | Http2SecureServer,
  keepAliveMs: number,
  settingsTimeoutMs: number,
): Http2Sessions {
  const sessions = new Set<ServerHttp2Session>();
  server.on("session", (session: ServerHttp2Session) => {
    sessions.add(session);
    keepAlive(session, keepAliveMs);
    const settingsTimer = setTimeout(() => session.destroy(), settingsTimeoutMs);
    settingsTimer.unref();
    session.once("remoteSettings", () => clearTimeout(settingsTimer));
    session.once("close", () => {
      clearTimeout(settingsTimer);
      sessions.delete(session);
    });
    // Session errors (a reset connection, a malformed frame) are caused by the peer; `close` follows.
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
