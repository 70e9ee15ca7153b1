import type { DescMethod, JsonReadOptions, JsonWriteOptions } from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";
import { createMethodSerializationLookup } from "@connectrpc/connect/protocol";
import type { Output } from "../../call/call.ts";
import { callerLeft } from "../../call/caller-left.ts";
import { chargeLoopTime } from "../../call/loop-time.ts";
import type { OpenCalls } from "../../call/open-calls.ts";
import type { RequestFacts } from "../../call/request-facts.ts";
import type { RoutedCall } from "../../call/routed-call.ts";
import { type AnswerHeaders, type HttpRequest, type HttpResponse, isGone } from "../http/http-exchange.ts";
import { DirectExchange } from "./direct-exchange.ts";
import { type AnswerWriting, encodeAnswer } from "./encode-answer.ts";
import { createPace } from "./pace.ts";
import type { MessageReading } from "./read-message.ts";
import { type RequestHead, readRequestHead } from "./request-head.ts";
import { writeEnd, writeError, writeHead, writeUnary } from "./write-answer.ts";

export interface DirectHandlerOptions {
  readonly method: DescMethod;
  /** Maximum message sizes before compression, in bytes. */
  readonly readMaxBytes: number;
  readonly writeMaxBytes: number;
  readonly jsonOptions: Partial<JsonReadOptions & JsonWriteOptions>;
  /** Whether a message that many calls receive is encoded only once. */
  readonly isShared: boolean;
  /** Whether each message of a stream is the whole state, so that a slow client only needs the newest one. */
  readonly isState: boolean;
  readonly openCalls: OpenCalls;
  /** Creates the call of an exchange. */
  begin(exchange: DirectExchange): RoutedCall;
  /** Runs a call. An exception, now or while its messages are read, ends the answer. */
  run(call: RoutedCall): Promise<Output>;
  /** Converts such an exception to the error for the client. */
  wireErrorFrom(thrown: unknown, call: RoutedCall): ConnectError;
}

/** Answers requests of one unary or server-streaming method, with nothing between Node's HTTP server and the interceptors. */
export interface DirectHandler {
  /** Returns undefined for a request that connect-es has to answer. */
  readHead(request: HttpRequest): RequestHead | undefined;
  /**
   * Answers a request. Resolves when the answer is handed over or the client has left.
   * @param headers response headers that do not depend on the call
   * @throws only if writing itself fails
   */
  answer(
    head: RequestHead,
    request: HttpRequest,
    response: HttpResponse,
    facts: RequestFacts,
    headers: AnswerHeaders,
  ): Promise<void>;
}

/**
 * Creates a handler with the same contract as connect-es (protocols/connect-es/handler.ts): Connect, its GET, gRPC and gRPC-Web, with the
 * same errors and limits. It saves the cost of each call there: six to ten chained generators, copies of the headers, and three
 * AbortControllers.
 */
export function createDirectHandler(options: DirectHandlerOptions): DirectHandler {
  const { method, readMaxBytes, writeMaxBytes, jsonOptions, isShared, isState, openCalls } = options;
  const limits = { readMaxBytes, writeMaxBytes };
  const serialization = createMethodSerializationLookup(method, undefined, jsonOptions, limits);
  const readings: Record<"binary" | "json", MessageReading> = {
    binary: { method, readMaxBytes, jsonOptions, serialization: serialization.getI(true) },
    json: { method, readMaxBytes, jsonOptions, serialization: serialization.getI(false) },
  };
  const binary = serialization.getO(true);
  const json = serialization.getO(false);
  const writing: AnswerWriting = { method, writeMaxBytes, isShared, binary, json, jsonOptions };

  async function writeMessage(
    exchange: DirectExchange,
    call: RoutedCall,
    response: HttpResponse,
    output: object,
  ): Promise<void> {
    chargeLoopTime(call);
    const encoded = encodeAnswer(output, exchange.head, writing, call);
    const answer = encoded instanceof Promise ? await encoded : encoded;
    if (!isGone(response)) {
      writeUnary(exchange, response, answer);
    }
  }

  async function writeStream(
    exchange: DirectExchange,
    call: RoutedCall,
    response: HttpResponse,
    output: AsyncIterable<object>,
  ): Promise<void> {
    const messages = output[Symbol.asyncIterator]();
    const { hold } = exchange.request;
    const pace = createPace(response, () => hold?.left());
    try {
      for (;;) {
        // Requests the next state only when the previous one has left, so that a slow watcher gets the newest one next.
        if (isState && !(await pace.flushed())) {
          return;
        }
        const next = await messages.next();
        const room = isGone(response) ? false : pace.hasRoom();
        if (room !== true && !(await room)) {
          return;
        }
        if (!response.headersSent) {
          writeHead(exchange, response);
        }
        if (next.done === true) {
          writeEnd(exchange, response, undefined);
          return;
        }
        chargeLoopTime(call);
        const encoded = encodeAnswer(next.value, exchange.head, writing, call);
        const { body } = encoded instanceof Promise ? await encoded : encoded;
        pace.write(body);
      }
    } finally {
      await messages.return?.();
    }
  }

  async function answerError(
    exchange: DirectExchange,
    call: RoutedCall,
    response: HttpResponse,
    thrown: unknown,
  ): Promise<void> {
    if (isGone(response)) {
      return;
    }
    const error = options.wireErrorFrom(thrown, call);
    if (response.headersSent) {
      writeEnd(exchange, response, error);
    } else {
      await writeError(exchange, response, error);
    }
  }

  return {
    readHead: (request) => readRequestHead(method, request),
    async answer(head, request, response, facts, headers) {
      const reading = head.form.isBinary ? readings.binary : readings.json;
      const exchange = new DirectExchange(head, request, facts, headers, reading);
      const call = options.begin(exchange);
      chargeLoopTime(call);
      const onClose = () => call.end(callerLeft);
      response.once("close", onClose);
      if (head.timeoutMs !== undefined) {
        call.armDeadline();
      }
      openCalls.add(call);
      let isAnswered = false;
      try {
        const output = await options.run(call);
        if (Symbol.asyncIterator in output) {
          await writeStream(exchange, call, response, output);
        } else {
          await writeMessage(exchange, call, response, output);
        }
        isAnswered = method.methodKind === "unary";
      } catch (thrown) {
        await answerError(exchange, call, response, thrown);
      } finally {
        openCalls.delete(call);
        call.close(isAnswered);
      }
    },
  };
}
