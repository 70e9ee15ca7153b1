import { createRegistry } from "@bufbuild/protobuf";
import { ConnectError, type HandlerContext } from "@connectrpc/connect";
import { compressions } from "../../server/rpc/compression.ts";
import { connectErrorFromInfraError, infraErrorFrom } from "../../server/rpc/errors.ts";
import { streamUntilCallEnds } from "../../server/rpc/guard.ts";
import { callFromHandlerContext } from "../../server/rpc/handler-call.ts";
import { type MethodRule, methodPathOf } from "../../server/rpc/method-rule.ts";
import { createProtocolHandler, type Inputs } from "../../server/rpc/protocol-handler.ts";
import type { Route } from "../../server/rpc/router.ts";
import { answerCall, asked } from "./answers.ts";
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
  return ConformanceService.methods.map((method) => {
    async function* serve(inputs: Inputs, context: HandlerContext): AsyncGenerator<object, void> {
      const call = callFromHandlerContext(context, rule, { maxDeadlineMs, maxMessageBytes }, inputs.single);
      try {
        yield* streamUntilCallEnds(call, answerCall(method, inputs, context), undefined);
      } catch (thrown) {
        const isAsked = thrown instanceof ConnectError && thrown.cause === asked;
        throw isAsked ? thrown : connectErrorFromInfraError(infraErrorFrom(thrown));
      }
    }
    return {
      path: `/${methodPathOf(method)}`,
      rule: { ...rule, get: method === ConformanceService.method.idempotentUnary },
      handle: createProtocolHandler(method, serve, {
        acceptCompression: compressions,
        readMaxBytes: maxMessageBytes,
        // The suite packs messages into Any, which JSON shows unpacked.
        jsonOptions: { registry: createRegistry(file_connectrpc_conformance_v1_service) },
        shutdownSignal,
      }),
    };
  });
}
