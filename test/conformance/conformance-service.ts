import { setTimeout as sleep } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import type { Code, ConnectError } from "@connectrpc/connect";
import { InfraError } from "../../adapters/host/infra-error.ts";
import type { Call } from "../../server/rpc/call/call.ts";
import type { ServiceRegistration } from "../../server/rpc/call/service-handlers.ts";
import { createHandlerError } from "../../server/rpc/errors/wire-error.ts";
import { rpcReasons } from "../../server/rpc/reasons.ts";
import {
  type BidiStreamRequest,
  type ClientStreamRequest,
  type ConformancePayload_RequestInfo,
  ConformancePayload_RequestInfoSchema,
  ConformancePayloadSchema,
  ConformanceService,
  type IdempotentUnaryRequest,
  type ServerStreamRequest,
  type StreamResponseDefinition,
  type Error as SuiteError,
  type UnaryRequest,
  type UnaryResponseDefinition,
} from "./gen/connectrpc/conformance/v1/service_pb.ts";

/** A request that defines a single response. */
type OnceRequest = UnaryRequest | IdempotentUnaryRequest | ClientStreamRequest;
/** A request that defines any number of responses. */
type ManyRequest = ServerStreamRequest | BidiStreamRequest;

/** The suite's service: each request defines the response and its timing, and the response reports what was received. */
export const conformanceService: ServiceRegistration = {
  service: ConformanceService,
  handlerOf: (method) => (input, call) => {
    if (method === ConformanceService.method.unimplemented) {
      return Promise.reject(new InfraError(rpcReasons.NOT_BUILT, `${method.name} is never implemented`));
    }
    switch (method.methodKind) {
      case "unary":
        return answerOnce([input as OnceRequest], call);
      case "client_streaming":
        return readAll(input as AsyncIterable<OnceRequest>).then((requests) => answerOnce(requests, call));
      case "server_streaming":
        return answerMany([input as ManyRequest], call);
      case "bidi_streaming":
        return answerBidi(input as AsyncIterable<BidiStreamRequest>, call);
    }
  },
};

async function answerOnce(requests: readonly OnceRequest[], call: Call): Promise<object> {
  const definition = requests[0]?.responseDefinition;
  const requestInfo = requestInfoOf(requests, call);
  setMetadata(definition, call);
  await delay(definition, call);
  const response = definition?.response;
  if (response?.case === "error") {
    throw requestedError(response.value, requestInfo);
  }
  const data = response?.case === "responseData" ? response.value : new Uint8Array();
  return { payload: create(ConformancePayloadSchema, { data, requestInfo }) };
}

async function* answerMany(requests: readonly ManyRequest[], call: Call): AsyncGenerator<object, void> {
  const definition = requests[0]?.responseDefinition;
  let requestInfo: ConformancePayload_RequestInfo | undefined = requestInfoOf(requests, call);
  setMetadata(definition, call);
  for (const data of definition?.responseData ?? []) {
    await delay(definition, call);
    yield { payload: { data, requestInfo } };
    requestInfo = undefined;
  }
  if (definition?.error !== undefined) {
    throw requestedError(definition.error, requestInfo);
  }
}

async function* answerBidi(
  requests: AsyncIterable<BidiStreamRequest>,
  call: Call,
): AsyncGenerator<object, void> {
  const reader = requests[Symbol.asyncIterator]();
  const first = await reader.next();
  if (first.done === true) {
    return;
  }
  const definition = first.value.responseDefinition;
  if (!first.value.fullDuplex) {
    const rest = await readAll({ [Symbol.asyncIterator]: () => reader });
    yield* answerMany([first.value, ...rest], call);
    return;
  }
  setMetadata(definition, call);
  let requestInfo: ConformancePayload_RequestInfo | undefined = requestInfoOf([first.value], call);
  let isFirst = true;
  for (const data of definition?.responseData ?? []) {
    if (!isFirst) {
      const next = await reader.next();
      const packed = next.done === true ? [] : [anyPack(call.method.input, next.value)];
      requestInfo = create(ConformancePayload_RequestInfoSchema, { requests: packed });
    }
    await delay(definition, call);
    yield { payload: { data, requestInfo } };
    isFirst = false;
  }
  if (definition?.error !== undefined) {
    throw requestedError(definition.error, isFirst ? requestInfo : undefined);
  }
}

function requestInfoOf(
  requests: readonly (OnceRequest | ManyRequest)[],
  call: Call,
): ConformancePayload_RequestInfo {
  // The gateway limits unary calls itself, and the suite does not expect that limit in the response.
  const hasTimeout = ["connect-timeout-ms", "grpc-timeout"].some((name) => call.header(name) !== undefined);
  const timeLeftMs = hasTimeout ? call.timeLeftMs() : undefined;
  const queryParams = [...(call.query() ?? [])].map(([name, value]) => ({ name, value: [value] }));
  const headerNames = [...call.headerNames()].filter((name) => !name.startsWith(":"));
  return create(ConformancePayload_RequestInfoSchema, {
    requestHeaders: headerNames.map((name) => ({ name, value: [call.header(name) ?? ""] })),
    requests: requests.map((request) => anyPack(call.method.input, request)),
    ...(timeLeftMs === undefined ? {} : { timeoutMs: BigInt(Math.ceil(timeLeftMs)) }),
    ...(call.query() === undefined ? {} : { connectGetInfo: { queryParams } }),
  });
}

function setMetadata(
  definition: UnaryResponseDefinition | StreamResponseDefinition | undefined,
  call: Call,
): void {
  for (const { name, value } of definition?.responseHeaders ?? []) {
    for (const one of value) {
      call.appendHeader(name, one);
    }
  }
  for (const { name, value } of definition?.responseTrailers ?? []) {
    for (const one of value) {
      call.appendTrailer(name, one);
    }
  }
}

function delay(
  definition: UnaryResponseDefinition | StreamResponseDefinition | undefined,
  { signal }: Call,
): Promise<void> {
  const delayMs = definition?.responseDelayMs ?? 0;
  return delayMs === 0 ? Promise.resolve() : sleep(delayMs, undefined, { signal });
}

function requestedError(
  error: SuiteError,
  requestInfo: ConformancePayload_RequestInfo | undefined,
): ConnectError {
  const details: ConnectError["details"] = error.details.map(({ typeUrl, value }) => ({
    type: typeUrl.slice(typeUrl.lastIndexOf("/") + 1),
    value,
  }));
  if (requestInfo !== undefined) {
    details.push({ desc: ConformancePayload_RequestInfoSchema, value: requestInfo });
  }
  // The suite uses the protocols' code numbers.
  return createHandlerError(error.message ?? "", error.code as number as Code, details);
}

async function readAll<T>(messages: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const message of messages) {
    all.push(message);
  }
  return all;
}
