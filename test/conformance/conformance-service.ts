import { setTimeout as sleep } from "node:timers/promises";
import { create, createRegistry, type DescMethod, type MessageShape } from "@bufbuild/protobuf";
import { type Any, anyPack } from "@bufbuild/protobuf/wkt";
import { ConnectError, type HandlerContext } from "@connectrpc/connect";
import { InfraError } from "../../adapters/host/infra-error.ts";
import { compressions } from "../../server/rpc/compression.ts";
import { connectErrorFromInfraError, infraErrorFrom } from "../../server/rpc/errors.ts";
import { streamUntilCallEnds } from "../../server/rpc/guard.ts";
import { callFromHandlerContext } from "../../server/rpc/handler-call.ts";
import { type MethodRule, methodPathOf } from "../../server/rpc/method-rule.ts";
import { createProtocolHandler, type Inputs } from "../../server/rpc/protocol-handler.ts";
import type { Route } from "../../server/rpc/router.ts";
import {
  type BidiStreamRequest,
  type ClientStreamRequest,
  type ConformancePayload,
  ConformancePayload_RequestInfoSchema,
  ConformancePayloadSchema,
  ConformanceService,
  type Header,
  type IdempotentUnaryRequest,
  type ServerStreamRequest,
  type StreamResponseDefinition,
  type Error as SuiteError,
  type UnaryRequest,
  type UnaryResponseDefinition,
} from "./gen/connectrpc/conformance/v1/service_pb.ts";

type Request =
  | UnaryRequest
  | IdempotentUnaryRequest
  | ClientStreamRequest
  | ServerStreamRequest
  | BidiStreamRequest;

/** Marks the errors that a test case asks for: they go out as they are, with nothing of the gateway's added. */
const asked = Symbol("asked for by the test case");

/**
 * The routes of the suite's service. What they answer is told by each request, as service.proto says; all
 * around it, from the bytes of the request to those of the answer, is the gateway's.
 */
export function createConformanceRoutes(maxMessageBytes: number, shutdownSignal: AbortSignal): Route[] {
  return ConformanceService.methods.map((method) => {
    const rule: MethodRule = {
      domain: "conformance",
      role: "anyone",
      mutation: false,
      get: method === ConformanceService.method.idempotentUnary,
      cache: false,
      secrets: false,
      hostBound: false,
      repeatable: false,
    };

    async function* serve(inputs: Inputs, context: HandlerContext): AsyncGenerator<object, void> {
      const call = callFromHandlerContext(context, rule, 60_000);
      try {
        yield* streamUntilCallEnds(call, answer(method, inputs, context), undefined);
      } catch (thrown) {
        const isAsked = thrown instanceof ConnectError && thrown.cause === asked;
        throw isAsked ? thrown : connectErrorFromInfraError(infraErrorFrom(thrown));
      }
    }

    const handle = createProtocolHandler(method, serve, {
      acceptCompression: compressions,
      readMaxBytes: maxMessageBytes,
      // Error details are packed messages of the suite; in JSON they are shown unpacked.
      jsonOptions: { registry: createRegistry(ConformanceService) },
      shutdownSignal,
    });
    return { path: `/${methodPathOf(method)}`, rule, handle };
  });
}

async function* answer(
  method: DescMethod,
  inputs: Inputs,
  context: HandlerContext,
): AsyncGenerator<object, void> {
  if (method === ConformanceService.method.unimplemented) {
    throw new InfraError("NOT_BUILT", "this method is never implemented");
  }
  switch (method.methodKind) {
    case "unary":
      yield await answerOnce([(await inputs.single()) as UnaryRequest], method, context);
      return;
    case "client_streaming":
      yield await answerOnce(
        await Array.fromAsync(inputs.all as AsyncIterable<ClientStreamRequest>),
        method,
        context,
      );
      return;
    case "server_streaming":
      yield* answerMany([(await inputs.single()) as ServerStreamRequest], method, context);
      return;
    case "bidi_streaming":
      yield* answerBidi(inputs.all as AsyncIterable<BidiStreamRequest>, method, context);
  }
}

async function answerOnce(
  requests: readonly (UnaryRequest | IdempotentUnaryRequest | ClientStreamRequest)[],
  method: DescMethod,
  context: HandlerContext,
): Promise<object> {
  const definition = requests[0]?.responseDefinition;
  const requestInfo = requestInfoOf(requests, method, context);
  setMetadata(definition, context);
  await sleep(definition?.responseDelayMs ?? 0);
  const response = definition?.response;
  if (response?.case === "error") {
    throw errorOf(response.value, requestInfo);
  }
  const data = response?.case === "responseData" ? response.value : new Uint8Array();
  return { payload: create(ConformancePayloadSchema, { data, requestInfo }) };
}
