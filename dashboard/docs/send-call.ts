import { type CallError, parseCallError } from "./call-error.ts";
import { readEvents } from "./read-events.ts";

/** How a call ended. */
export interface CallEnd {
  readonly httpStatus: number;
  readonly timeMs: number;
  readonly requestId: string;
  /** Undefined if the call succeeded. */
  readonly error: CallError | undefined;
}

export interface CallToSend {
  /** `package.Service/Method` */
  readonly method: string;
  /** The request as JSON. */
  readonly request: string;
  readonly isStream: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/**
 * Makes a call with the page's session, which is in a cookie that scripts cannot read. The content type and the Origin, which the
 * browser adds, show the gateway that the call comes from one of its own pages.
 * @param onMessage called with each message as JSON: one for a unary call
 * @throws TypeError when the gateway cannot be reached, AbortError when the signal aborts
 */
export async function sendCall(call: CallToSend, onMessage: (json: string) => void): Promise<CallEnd> {
  const startedAtMs = performance.now();
  const response = await fetch(`/${call.method}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(call.isStream ? { accept: "text/event-stream" } : {}),
      ...call.headers,
    },
    body: call.request,
    ...(call.signal === undefined ? {} : { signal: call.signal }),
  });
  const error = response.ok
    ? await readMessages(response, call.isStream, onMessage)
    : parseCallError(await response.text(), response.status);
  return {
    httpStatus: response.status,
    timeMs: performance.now() - startedAtMs,
    requestId: response.headers.get("hostplane-request-id") ?? "",
    error,
  };
}

/** @returns the error that ended a stream; undefined if it was complete */
async function readMessages(
  response: Response,
  isStream: boolean,
  onMessage: (json: string) => void,
): Promise<CallError | undefined> {
  if (!isStream) {
    onMessage(await response.text());
    return undefined;
  }
  for await (const { type, data } of readEvents(textOf(response))) {
    if (type === "end") {
      return undefined;
    }
    if (type === "error") {
      return parseCallError(data, response.status);
    }
    onMessage(data);
  }
  return { code: "UNAVAILABLE", message: "the connection was lost before the stream ended", reason: "" };
}

async function* textOf({ body }: Response): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  const reader = body?.getReader();
  for (;;) {
    const piece = await reader?.read();
    if (piece?.value === undefined) {
      return;
    }
    yield decoder.decode(piece.value, { stream: true });
  }
}
