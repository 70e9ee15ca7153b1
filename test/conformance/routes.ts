import { createRegistry } from "@bufbuild/protobuf";
import { ConnectError, type HandlerContext } from "@connectrpc/connect";
import { createAsyncIterable } from "@connectrpc/connect/protocol";
import { compressions } from "../../server/rpc/compression.ts";
import type { DirectExchange } from "../../server/rpc/direct/direct-exchange.ts";
import { createDirectHandler } from "../../server/rpc/direct/direct-handler.ts";
import { connectErrorFromInfraError, infraErrorFrom } from "../../server/rpc/errors.ts";
import { streamUntilCallEnds } from "../../server/rpc/guard.ts";
import { callFromHandlerContext } from "../../server/rpc/handler-call.ts";
import { type MethodRule, methodPathOf } from "../../server/rpc/method-rule.ts";
import { createOpenCalls } from "../../server/rpc/open-calls.ts";
import { createProtocolHandler, type Inputs } from "../../server/rpc/protocol-handler.ts";
import { RoutedCall } from "../../server/rpc/routed-call.ts";
import type { Route } from "../../server/rpc/router.ts";
import { type AnswerContext, answerCall, asked } from "./answers.ts";
import {
  ConformanceService,
  file_connectrpc_conformance_v1_service,
} from "./gen/connectrpc/conformance/v1/service_pb.ts";

const rule: MethodRule = {
  domain: "conformance",
  role: "anyone",
  mutation: false,
  get: false,
  cache: false,
  secrets: false,
  secretAnswer: false,
  ofEveryService: true,
  hostBound: false,
  repeatable: false,
};

/** The longest answer of the suite takes under a second. */
const maxDeadlineMs = 60_000;

/**
 * The routes of the suite's service. They are made as those of the gateway's router are, save that an answer
 * may set trailers and throw any error, which no handler of the gateway does.
 */
export function createConformanceRoutes(maxMessageBytes: number, shutdownSignal: AbortSignal): Route[] {
  const openCalls = process.env.RPC_PATH === "connect-es" ? undefined : createOpenCalls(shutdownSignal);
  const limits = { maxDeadlineMs, maxMessageBytes };
  // The suite packs messages into Any, which JSON shows unpacked.
  const jsonOptions = { registry: createRegistry(file_connectrpc_conformance_v1_service) };
  return ConformanceService.methods.map((method) => {
    async function* serve(inputs: Inputs, context: HandlerContext): AsyncGenerator<object, void> {
      const call = callFromHandlerContext(context, rule, limits, inputs.single);
      try {
        yield* streamUntilCallEnds(call, answerCall(method, inputs, context), undefined);
      } catch (thrown) {
        throw wireErrorFrom(thrown);
      }
    }
    const isSingle = method.methodKind === "unary" || method.methodKind === "server_streaming";
    const direct =
      openCalls === undefined || !isSingle
        ? undefined
        : createDirectHandler({
            method,
            readMaxBytes: maxMessageBytes,
            // The suite limits what is read alone.
            writeMaxBytes: 0xffffffff,
            jsonOptions: { ...jsonOptions, ignoreUnknownFields: true },
            isShared: false,
            isState: false,
            openCalls,
            begin: (exchange) => new RoutedCall(exchange, rule, limits),
            async run(call, exchange) {
              const inputs = { single: () => call.input(), all: createAsyncIterable([]) };
              const answers = streamUntilCallEnds(
                call,
                answerCall(method, inputs, contextOf(call, exchange)),
                undefined,
              );
              return method.methodKind === "unary" ? firstOf(answers) : answers;
            },
            wireErrorFrom,
          });
    return {
      path: `/${methodPathOf(method)}`,
      rule: { ...rule, get: method === ConformanceService.method.idempotentUnary },
      handle: createProtocolHandler(method, serve, {
        acceptCompression: compressions,
        readMaxBytes: maxMessageBytes,
        jsonOptions,
        shutdownSignal,
      }),
      direct,
    };
  });
}

function wireErrorFrom(thrown: unknown): ConnectError {
  const isAsked = thrown instanceof ConnectError && thrown.cause === asked;
  return isAsked ? thrown : connectErrorFromInfraError(infraErrorFrom(thrown));
}

async function firstOf(answers: AsyncIterable<object>): Promise<object> {
  for await (const answer of answers) {
    return answer;
  }
  throw new TypeError("there is no answer");
}

/** What the suite's service asks of a call, of one that connect-es does not carry. */
function contextOf(call: RoutedCall, exchange: DirectExchange): AnswerContext {
  const { request } = exchange;
  exchange.trailers ??= new Headers();
  const requestHeader = new Headers();
  for (const name of call.headerNames()) {
    if (!name.startsWith(":")) {
      requestHeader.append(name, call.header(name) ?? "");
    }
  }
  const timeLeftMs = exchange.timeLeftMs();
  return {
    requestMethod: request.method ?? "",
    url: `http://gateway${request.url ?? ""}`,
    requestHeader,
    responseHeader: { append: (name, value) => exchange.appendHeader(name, value) },
    responseTrailer: exchange.trailers,
    signal: call.signal,
    timeoutMs: () => (timeLeftMs === undefined ? undefined : Math.ceil(timeLeftMs)),
  };
}
