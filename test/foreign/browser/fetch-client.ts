import type { JsonObject } from "@bufbuild/protobuf";
import { type BrowserClient, type CallOptions, collectMessages } from "./browser-client.ts";
import { connectEnvelope, messagesOfEnvelopes } from "./connect-envelopes.ts";
import { messagesOfEvents } from "./server-sent-events.ts";
import { callError, failureFromError, type WireError } from "./wire-error.ts";

/** How `fetch` requests a stream and reads it. */
interface StreamFormat {
  readonly headers: Readonly<Record<string, string>>;
  bodyOf(request: JsonObject): string | Uint8Array<ArrayBuffer>;
  messagesOf(answer: Response): AsyncIterable<object>;
}

export const serverSentEvents: StreamFormat = {
  headers: { "content-type": "application/json", accept: "text/event-stream" },
  bodyOf: (request) => JSON.stringify(request),
  messagesOf: messagesOfEvents,
};

export const connectEnvelopes: StreamFormat = {
  headers: { "content-type": "application/connect+json" },
  bodyOf: connectEnvelope,
  messagesOf: messagesOfEnvelopes,
};

/**
 * Creates a client that uses `fetch` without a library: unary calls are JSON, streams have one of the formats. @param token empty
 * for none
 */
export function createFetchClient(baseUrl: string, token: string, format: StreamFormat): BrowserClient {
  async function post(path: string, init: RequestInit, { headers = {}, onHeaders }: CallOptions) {
    const authorization = token === "" ? {} : { authorization: `Bearer ${token}` };
    const answer = await fetch(`${baseUrl}/${path}`, {
      method: "POST",
      ...init,
      headers: { ...authorization, ...(init.headers as Record<string, string>), ...headers },
    });
    onHeaders?.(answer.headers);
    if (!answer.ok) {
      throw callError((await answer.json()) as WireError);
    }
    return answer;
  }

  return {
    async unary<O extends object>(path: string, request: JsonObject, options: CallOptions = {}) {
      const init = { headers: { "content-type": "application/json" }, body: JSON.stringify(request) };
      const answer = await post(path, init, options);
      return (await answer.json()) as O;
    },
    async stream(path, request, isLast, options = {}) {
      const init = { headers: format.headers, body: format.bodyOf(request) };
      const answer = await post(path, init, options);
      // Leaving the loop over its body cancels the request.
      return await collectMessages(format.messagesOf(answer), isLast);
    },
    failureOf: failureFromError,
  };
}
