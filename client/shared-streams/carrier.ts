import { type Client, Code, ConnectError } from "@connectrpc/connect";
import type { CarryStreamsResponse, StreamService } from "../../gen/hostplane/v1/stream_pb.ts";
import { describeError } from "../describe-error.ts";
import type { SharedRequest } from "./port-messages.ts";

/** Why an answer has ended. */
export type AnswerEnd =
  | { readonly kind: "complete" }
  | { readonly kind: "lost" }
  /** The gateway refused the call or ended the carrier. */
  | { readonly kind: "refused"; readonly error: ConnectError }
  /** The carrier is no longer the caller's, which has another login now. */
  | { readonly kind: "stale" }
  /** The gateway, or its listener, has no carriers. */
  | { readonly kind: "unsupported" };

/** Receives an answer. `over` is called once, at the end. */
export interface AnswerSink {
  head(status: number, headers: Readonly<Record<string, string>>): void;
  data(data: Uint8Array): void;
  over(end: AnswerEnd): void;
}

/** One stream of the gateway that carries the answers of many calls. */
export interface Carrier {
  readonly isOver: boolean;
  /** Makes a call. @returns a function that ends it without calling the sink; the carrier ends with its last call */
  open(request: SharedRequest, sink: AnswerSink): () => void;
}

/** The gateway sends a heartbeat every five seconds. A silent connection is lost. */
const maxSilenceMs = 15_000;

/** Calls that start or end streams at the same time; they need connections too. */
const mostCalls = 2;

/** @param authorization the header of that name of all calls on the carrier; undefined if they have none */
export function openCarrier(
  streams: Client<typeof StreamService>,
  authorization: string | undefined,
): Carrier {
  const connection = new AbortController();
  const { signal } = connection;
  const sinks = new Map<number, AnswerSink>();
  const enter = createLimit(mostCalls);
  let lastStream = 0;
  let isOver = false;
  let carrierId = "";
  let onOpened = () => {};
  const opened = new Promise<void>((resolve) => {
    onOpened = resolve;
  });

  async function follow(): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const limitSilence = () => {
      clearTimeout(timer);
      timer = setTimeout(() => connection.abort(), maxSilenceMs);
    };
    let end: AnswerEnd = { kind: "lost" };
    try {
      limitSilence();
      const headers = authorization === undefined ? {} : { authorization };
      for await (const { message } of streams.carryStreams({}, { signal, headers })) {
        limitSilence();
        take(message);
      }
    } catch (error) {
      const isUnknown = ConnectError.from(error).code === Code.Unimplemented;
      end = isUnknown ? { kind: "unsupported" } : endFromError(error);
    }
    clearTimeout(timer);
    isOver = true;
    onOpened();
    for (const stream of [...sinks.keys()]) {
      finish(stream, end);
    }
  }

  function take(message: CarryStreamsResponse["message"]): void {
    switch (message.case) {
      case "opened":
        ({ carrierId } = message.value);
        onOpened();
        break;
      case "head":
        sinks.get(message.value.stream)?.head(message.value.status, message.value.headers);
        break;
      case "data":
        sinks.get(message.value.stream)?.data(message.value.data);
        break;
      case "end":
        finish(message.value.stream, { kind: "complete" });
        break;
      default:
    }
  }

  function finish(stream: number, end: AnswerEnd): void {
    const sink = sinks.get(stream);
    forget(stream);
    sink?.over(end);
  }

  function forget(stream: number): void {
    sinks.delete(stream);
    if (sinks.size === 0) {
      isOver = true;
      connection.abort();
    }
  }

  async function start(stream: number, { method, headers, body }: SharedRequest): Promise<void> {
    await opened;
    if (isOver || !sinks.has(stream)) {
      return;
    }
    const contentType = headers["content-type"] ?? "";
    const request = { carrierId, stream, method, contentType, body };
    try {
      await streams.openStream(request, {
        headers: callHeaders(headers),
        signal,
        timeoutMs: maxSilenceMs,
      });
    } catch (error) {
      const isStale = describeError(error).reason === "CARRIER_NOT_FOUND";
      finish(stream, isStale ? { kind: "stale" } : endFromError(error));
    }
    if (!isOver && !sinks.has(stream)) {
      await close(stream, headers);
    }
  }

  async function close(stream: number, headers: SharedRequest["headers"]): Promise<void> {
    const options = { headers: callHeaders(headers), signal, timeoutMs: maxSilenceMs };
    // If it cannot be closed, what it sends is dropped here.
    await streams.closeStream({ carrierId, stream }, options).catch(() => {});
  }

  void follow();
  return {
    get isOver() {
      return isOver;
    },
    open(request, sink) {
      lastStream += 1;
      const stream = lastStream;
      sinks.set(stream, sink);
      let isStarted = false;
      void enter(async () => {
        await start(stream, request);
        isStarted = true;
      });
      return () => {
        if (!sinks.has(stream)) {
          return;
        }
        forget(stream);
        if (isStarted && !isOver) {
          void enter(() => close(stream, request.headers));
        }
      };
    },
  };
}

/** Returns the headers of a stream's request for the calls that start and end it. */
function callHeaders(headers: SharedRequest["headers"]): Record<string, string> {
  const { "content-type": _type, "connect-timeout-ms": _timeout, ...rest } = headers;
  return rest;
}

function endFromError(error: unknown): AnswerEnd {
  return describeError(error).reason === ""
    ? { kind: "lost" }
    : { kind: "refused", error: ConnectError.from(error) };
}

/** Returns a function that runs tasks in order, this many at once. */
function createLimit(most: number): (task: () => Promise<void>) => Promise<void> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (task) => {
    if (running >= most) {
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else {
      running += 1;
    }
    try {
      await task();
    } finally {
      const next = waiting.shift();
      if (next === undefined) {
        running -= 1;
      } else {
        next();
      }
    }
  };
}
