import type { DescMethod } from "@bufbuild/protobuf";
import { callerLeft } from "../../call/caller-left.ts";
import { chargeLoopTime } from "../../call/loop-time.ts";
import type { RequestFacts } from "../../call/request-facts.ts";
import type { Route } from "../../call/router.ts";
import { wireErrorFrom } from "../../errors/wire-error.ts";
import { type AnswerHeaders, type HttpRequest, type HttpResponse, isGone } from "../http/http-exchange.ts";
import { createEncodeMessage } from "./encode-message.ts";
import { writeError } from "./error.ts";
import { DirectExchange } from "./exchange.ts";
import { createReadMessage } from "./read-message.ts";
import type { RequestHead } from "./request.ts";
import { writeUnary } from "./response.ts";
import { writeStream } from "./stream.ts";

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
  const { method } = route;
  const readMessage = createReadMessage(route);
  const encodeMessage = createEncodeMessage(route);

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
          await writeStream(exchange, call, response, output, encodeMessage);
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
        await writeError(exchange, response, wireErrorFrom(thrown, call));
      } finally {
        call.close(isAnswered);
      }
    },
  };
}
