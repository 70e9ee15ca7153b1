import type { Transport } from "@connectrpc/connect";
import { isRead } from "../table/is-read.ts";
import type { Session } from "../table/session.ts";

/** A gateway that hangs must not hang its callers. A change runs to its end in any case, so its outcome is waited for. */
export const readTimeoutMs = 60_000;

/**
 * Creates a session that calls through a transport.
 * @param host of the fleet; undefined: the gateway itself
 */
export function createTransportSession(transport: Transport, adminSocket?: string, host?: string): Session {
  const header = host === undefined ? undefined : { "hostplane-host": host };
  return {
    adminSocket,
    onHost: (other) => createTransportSession(transport, adminSocket, other),
    call: (method, request) =>
      transport.unary(method, undefined, isRead(method) ? readTimeoutMs : undefined, header, request),
    async follow(method, request, signal) {
      const answer = await transport.stream(
        method,
        signal,
        undefined,
        header,
        (async function* () {
          yield request;
        })(),
      );
      return { messages: answer.message, header: answer.header };
    },
  };
}
