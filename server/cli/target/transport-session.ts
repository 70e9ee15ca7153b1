import type { Transport } from "@connectrpc/connect";
import type { Session } from "../table/session.ts";

/** Creates a session that calls through a transport. */
export function createTransportSession(transport: Transport, adminSocket?: string): Session {
  return {
    adminSocket,
    call: (method, request) => transport.unary(method, undefined, undefined, undefined, request),
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
