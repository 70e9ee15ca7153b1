import type { JsonObject } from "@bufbuild/protobuf";
import type { BrowserClient, IsLast } from "./browser-client.ts";
import { callError, failureFromError } from "./wire-error.ts";

/**
 * A client that uses the browser's EventSource, which sends GET and no custom headers. It hides the status and the body of an
 * error response: its failures are `closed`.
 */
export function createEventSourceClient(baseUrl: string, withCredentials = false): BrowserClient {
  async function stream<O extends object>(
    path: string,
    request: JsonObject,
    isLast: IsLast<O> = () => false,
  ) {
    const query = new URLSearchParams({ connect: "v1", encoding: "json", message: JSON.stringify(request) });
    const source = new EventSource(`${baseUrl}/${path}?${query}`, { withCredentials });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const messages: O[] = [];
    source.onmessage = async ({ data }) => {
      const message = JSON.parse(data);
      messages.push(message);
      if (await isLast(message)) {
        resolve();
      }
    };
    source.addEventListener("end", () => resolve());
    source.onerror = (event) => {
      if (event instanceof MessageEvent) {
        reject(callError(JSON.parse(event.data)));
      } else if (source.readyState === EventSource.CLOSED) {
        reject(callError({ code: "", message: "closed" }));
      } // Otherwise the connection was cut, and the browser reconnects.
    };
    try {
      await promise;
      return messages;
    } finally {
      source.close();
    }
  }

  return {
    // A unary method does not serve event streams; the failure is part of the result.
    async unary<O extends object>(path: string, request: JsonObject) {
      const [message] = await stream<O>(path, request, () => true);
      return message as O;
    },
    stream,
    failureOf: failureFromError,
  };
}
