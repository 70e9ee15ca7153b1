import type { DescMethod } from "@bufbuild/protobuf";
import { callerLeft } from "../../call/caller-left.ts";
import { chargeLoopTime } from "../../call/loop-time.ts";
import type { RequestFacts } from "../../call/request-facts.ts";
import type { RoutedCall } from "../../call/routed-call.ts";
import type { Route } from "../../call/router.ts";
import { wireErrorFrom } from "../../errors/wire-error.ts";
import { createBackpressure } from "../http/backpressure.ts";
import { type AnswerHeaders, type HttpRequest, type HttpResponse, isGone } from "../http/http-exchange.ts";
import { createEncodeMessage } from "./encode-message.ts";
import { DirectExchange } from "./exchange.ts";
import { createReadMessage } from "./read-message.ts";
import type { RequestHead } from "./request.ts";
import { writeEnd, writeError, writeHead, writeUnary } from "./response.ts";

/** Answers requests of one unary or server-streaming method. */
export interface DirectHandler {
  readonly method: DescMethod;
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

/** Creates a handler that sends the same bytes as connect-es, with the same errors and limits. */
export function createDirectHandler(route: Route): DirectHandler {
  const { method, rule } = route;
  const readMessage = createReadMessage(route);
  const encodeMessage = createEncodeMessage(route);

  async function writeStream(
    exchange: DirectExchange,
    call: RoutedCall,
    response: HttpResponse,
    output: AsyncIterable<object>,
  ): Promise<void> {
    const messages = output[Symbol.asyncIterator]();
    const { usage } = exchange.request;
    const backpressure = createBackpressure(response, () => usage?.onSent());
    try {
      for (;;) {
        // Each message of a repeatable stream is the whole state. Requests the next one only when the previous one has left, so
        // that a slow watcher gets the newest state next.
        if (rule.repeatable && !(await backpressure.flushed())) {
          return;
        }
        const next = await messages.next();
        const room = isGone(response) ? false : backpressure.canWrite();
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
        const encoded = encodeMessage(next.value, exchange.head, call);
        const { body } = encoded instanceof Promise ? await encoded : encoded;
        backpressure.write(body);
      }
    } finally {
      await messages.return?.();
    }
  }

  return {
    method,
    async answer(head, request, response, facts, headers) {
      const exchange = new DirectExchange(route, head, request, facts, headers, readMessage);
      const call = route.begin(exchange);
      response.once("close", () => call.end(callerLeft));
      let isAnswered = false;
      try {
        const output = await route.run(call);
        if (Symbol.asyncIterator in output) {
          await writeStream(exchange, call, response, output);
        } else {
          chargeLoopTime(call);
          // Awaiting a ready message would keep more of the call alive through scavenges (promoted-calls.test.ts).
          const encoded = encodeMessage(output, head, call);
          const answer = encoded instanceof Promise ? await encoded : encoded;
          if (!isGone(response)) {
            writeUnary(exchange, response, answer);
          }
        }
        isAnswered = method.methodKind === "unary";
      } catch (thrown) {
        if (isGone(response)) {
          return;
        }
        const error = wireErrorFrom(thrown, call);
        if (response.headersSent) {
          writeEnd(exchange, response, error);
        } else {
          await writeError(exchange, response, error);
        }
      } finally {
        call.close(isAnswered);
      }
    },
  };
}
