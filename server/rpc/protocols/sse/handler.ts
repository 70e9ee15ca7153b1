import { randomInt } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";
import { createAsyncIterable, type UniversalServerResponse } from "@connectrpc/connect/protocol";
import { codeToHttpStatus } from "@connectrpc/connect/protocol-connect";
import { isSettledWithin } from "../../../../adapters/host/is-settled-within.ts";
import type { Route } from "../../call/router.ts";
import { messageTooLarge } from "../../errors/message-too-large.ts";
import { beginHttpCall, type HttpCall, httpErrorFrom } from "../http/http-call.ts";
import type { Handle } from "../http/serve.ts";
import { errorHeadersOf } from "../rest/error.ts";
import { connectErrorBody } from "../wire/connect-end.ts";
import { eventStreamType } from "./accepts-event-stream.ts";
import { eventFrame, heartbeatFrame, retryFrame } from "./event-frame.ts";
import { messageEvent } from "./message-event.ts";
import { readEventRequest } from "./request.ts";

/** How long the status is held back, so that an early error gets its own. Refusals come immediately. */
const statusHeldMs = 1000;

/** Range of the time that a browser waits before it reconnects; random, so that not all reconnect at once after a restart. */
const retryMs = { least: 1000, most: 3000 };

/** Id of the event that ends a stream. A client that reconnects with it has received the end. */
const endId = "end";

const answerHeaders = {
  "content-type": eventStreamType,
  "cache-control": "no-store",
  // nginx would buffer the stream otherwise.
  "x-accel-buffering": "no",
};

/**
 * Creates the handler that answers a request with the messages of a server stream as events, and a final event `end` or `error`.
 * An error before the first message is answered with its HTTP status and Connect's JSON, unless the stream has been silent for a
 * second: its headers are sent by then. A browser that reconnects to a stream that has ended gets 204, which stops reconnecting,
 * provided that it may call the method.
 * @param keepAliveMs silence after which a comment is sent
 */
export function createEventStreamHandler(served: Route, keepAliveMs: number): Handle {
  const { method, writeMaxBytes } = served;

  function frameOf(output: object): Buffer {
    const { frame, sizeBytes } = messageEvent(
      method.output,
      create(method.output, output as Record<string, unknown>),
    );
    if (sizeBytes > writeMaxBytes) {
      throw messageTooLarge(sizeBytes, writeMaxBytes);
    }
    return frame;
  }

  return async (request, facts) => {
    const { header } = request;
    const lastEventId = header.get("last-event-id") ?? undefined;
    const hasSeenEnd = request.method === "GET" && lastEventId === endId;
    const silence = createSilence();
    const { pathname, search } = new URL(request.url);
    const contentType = header.get("content-type") ?? undefined;
    const received = {
      httpMethod: request.method,
      url: pathname + search,
      contentType,
      lastEventId: hasSeenEnd ? undefined : lastEventId,
    };
    const call = beginHttpCall(
      served,
      "sse",
      request,
      { ...facts, onSinkWrite: silence.end },
      answerHeaders,
      (readBody) => readEventRequest(method, { ...received, readBody }, served.rule.mutation),
    );
    const first = call.outputs.next();
    try {
      if (await isSettledWithin(first, Math.min(statusHeldMs, keepAliveMs))) {
        await first;
      }
    } catch (thrown) {
      await call.close();
      return refusalOf(httpErrorFrom(thrown), call.header);
    }
    if (hasSeenEnd) {
      await call.close();
      return { status: 204 };
    }
    call.noteUnknownFields();
    return { status: 200, header: call.header, body: framesOf(first, call, frameOf, silence, keepAliveMs) };
  };
}

/** Time since anything was written to a stream. */
interface Silence {
  lastedMs(): number;
  end(): void;
}

function createSilence(): Silence {
  let beganAtMs = performance.now();
  return {
    lastedMs: () => performance.now() - beganAtMs,
    end: () => {
      beganAtMs = performance.now();
    },
  };
}

async function* framesOf(
  first: Promise<IteratorResult<object>>,
  { outputs, close }: HttpCall,
  frameOf: (output: object) => Buffer,
  silence: Silence,
  keepAliveMs: number,
): AsyncGenerator<Uint8Array, void> {
  try {
    yield retryFrame(randomInt(retryMs.least, retryMs.most));
    silence.end();
    for (let next = first; ; next = outputs.next()) {
      // While a sink of the call writes, its outputs are empty although the stream is not silent.
      while (!(await isSettledWithin(next, keepAliveMs - silence.lastedMs()))) {
        if (silence.lastedMs() >= keepAliveMs) {
          yield heartbeatFrame;
          silence.end();
        }
      }
      const result = await next;
      if (result.done === true) {
        break;
      }
      yield frameOf(result.value);
      silence.end();
    }
    yield eventFrame({ id: endId, type: "end", data: "{}" });
  } catch (thrown) {
    yield eventFrame({ type: "error", data: connectErrorBody(httpErrorFrom(thrown)).toString() });
  } finally {
    await close();
  }
}

function refusalOf(error: ConnectError, header: Headers): UniversalServerResponse {
  const body = connectErrorBody(error);
  const own = { ...errorHeadersOf(error), "content-length": String(body.byteLength) };
  for (const [name, value] of Object.entries(own)) {
    header.set(name, value);
  }
  header.delete("x-accel-buffering");
  return { status: codeToHttpStatus(error.code), header, body: createAsyncIterable([body]) };
}
