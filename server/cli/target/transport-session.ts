import type { Transport } from "@connectrpc/connect";
import { isRead } from "../table/is-read.ts";
import type { Session } from "../table/session.ts";

/** A gateway that hangs must not hang its callers. A change runs to its end in any case, so its outcome is waited for. */
export const readTimeoutMs = 60_000;

/** Creates a session that calls through a transport. */
export function createTransportSession(transport: Transport, adminSocket?: string): Session {
  return {
    adminSocket,
    call: (method, request) =>
      transport.unary(method, undefined, isRead(method) ? readTimeoutMs : undefined, undefined, request),
    async follow(method, request, signal) {
      const { message, header } = await transport.stream(
        method,
        signal,
        undefined,
        undefined,
        (async function* () {
          yield request;
        })(),
      );
      return { messages: message, header };
    },
  };
}
