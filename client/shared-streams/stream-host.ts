import { createClient } from "@connectrpc/connect";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { endStreamFlag, endStreamToJson } from "@connectrpc/connect/protocol-connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { StreamService } from "../../gen/hostplane/v1/stream_pb.ts";
import { type AnswerEnd, type AnswerSink, type Carrier, openCarrier } from "./carrier.ts";
import type { FromHost, SharedRequest, StreamPort, ToHost } from "./port-messages.ts";

/** Makes the streaming calls of windows, on one carrier for each gateway and credential. */
export interface StreamHost {
  /** Makes the calls that arrive at the port, until its window closes them or no longer sends pings. */
  serve(port: StreamPort): void;
}

/** A window that has not read this much is too slow: its stream is cut, and the window resumes it when it can. */
const maxUnreadBytes = 16 * 1024 * 1024;

/** Browsers run the timers of a hidden page once a minute. Those of a closed or frozen page do not run. */
const maxSilenceMs = 180_000;
const silenceCheckMs = 30_000;

interface OpenCall {
  unreadBytes: number;
  close(): void;
}

/** @param fetch makes the requests; default: `globalThis.fetch` */
export function createStreamHost(fetch?: typeof globalThis.fetch): StreamHost {
  const carriers = new Map<string, Carrier>();

  function carrierOf({ baseUrl, headers }: SharedRequest): Carrier {
    const { authorization } = headers;
    const key = JSON.stringify([baseUrl, authorization]);
    const existing = carriers.get(key);
    if (existing?.isOver === false) {
      return existing;
    }
    const transport = createConnectTransport({
      baseUrl,
      useBinaryFormat: true,
      ...(fetch === undefined ? {} : { fetch }),
    });
    const carrier = openCarrier(createClient(StreamService, transport), authorization);
    carriers.set(key, carrier);
    return carrier;
  }

  function drop(carrier: Carrier): void {
    for (const [key, each] of carriers) {
      if (each === carrier) {
        carriers.delete(key);
      }
    }
  }

  /** Makes a call; once more on another carrier if the first one belongs to an earlier login. */
  function open(request: SharedRequest, sink: AnswerSink): () => void {
    let close = () => {};
    const attempt = (isLast: boolean) => {
      const carrier = carrierOf(request);
      const over = (end: AnswerEnd) => {
        if (end.kind !== "stale") {
          sink.over(end);
          return;
        }
        // Its other calls continue.
        drop(carrier);
        if (isLast) {
          sink.over({ kind: "lost" });
        } else {
          attempt(true);
        }
      };
      close = carrier.open(request, { head: sink.head, data: sink.data, over });
    };
    attempt(false);
    return () => close();
  }

  return { serve: (port) => servePort(port, open) };
}

function servePort(port: StreamPort, open: (request: SharedRequest, sink: AnswerSink) => () => void): void {
  const calls = new Map<number, OpenCall>();
  const post = (message: FromHost) => port.postMessage(message);
  let heardAtMs = Date.now();
  let timer: ReturnType<typeof setInterval> | undefined;

  function forget(id: number): void {
    calls.delete(id);
    if (calls.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  }

  function cut(id: number): void {
    calls.get(id)?.close();
    forget(id);
    post({ type: "lost", id });
  }

  function checkSilence(): void {
    if (Date.now() - heardAtMs > maxSilenceMs) {
      [...calls.keys()].forEach(cut);
    }
  }

  function begin(id: number, request: SharedRequest): void {
    const call: OpenCall = { unreadBytes: 0, close: () => {} };
    calls.set(id, call);
    timer ??= setInterval(checkSilence, silenceCheckMs);
    let hasHead = false;
    const head: AnswerSink["head"] = (status, headers) => {
      hasHead = true;
      post({ type: "head", id, status, headers });
    };
    const data = (bytes: Uint8Array) => {
      if (call.unreadBytes > maxUnreadBytes) {
        cut(id);
        return;
      }
      call.unreadBytes += bytes.byteLength;
      // A view would be sent with its whole buffer.
      post({ type: "data", id, data: bytes.slice() });
    };
    const over = (end: AnswerEnd) => {
      forget(id);
      if (end.kind === "refused") {
        if (!hasHead) {
          head(200, { "content-type": request.headers["content-type"] ?? "" });
        }
        data(errorEnvelope(end));
      }
      const type = end.kind === "lost" || end.kind === "unsupported" ? end.kind : "end";
      post({ type, id });
    };
    call.close = open(request, { head, data, over });
  }

  port.addEventListener("message", ({ data }) => {
    heardAtMs = Date.now();
    const message = data as ToHost;
    switch (message.type) {
      case "open":
        begin(message.id, message);
        break;
      case "close":
        calls.get(message.id)?.close();
        forget(message.id);
        break;
      case "read": {
        const call = calls.get(message.id);
        if (call !== undefined) {
          call.unreadBytes -= message.bytes;
        }
        break;
      }
      case "ping":
        post({ type: "pong" });
        break;
    }
  });
  port.start();
}

/** Returns the last envelope of a Connect stream that ends with the error. */
function errorEnvelope({ error }: Extract<AnswerEnd, { kind: "refused" }>): Uint8Array {
  const end = endStreamToJson(new Headers(), error, undefined);
  return encodeEnvelope(endStreamFlag, new TextEncoder().encode(JSON.stringify(end)));
}
