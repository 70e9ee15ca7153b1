import { setTimeout as sleep } from "node:timers/promises";
import { create, type DescMethod } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { type Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import { InfraError } from "../../adapters/host/infra-error.ts";
import type { Inputs } from "../../server/rpc/protocol-handler.ts";
import {
  type BidiStreamRequest,
  type ClientStreamRequest,
  type ConformancePayload_RequestInfo,
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

/** What the suite's service asks of its call; connect-es has it, and the direct path is made to. */
export interface AnswerContext
  extends Pick<
    HandlerContext,
    "requestMethod" | "url" | "requestHeader" | "responseTrailer" | "signal" | "timeoutMs"
  > {
  readonly responseHeader: Pick<Headers, "append">;
}

/** A request whose one answer it defines itself. */
type OnceRequest = UnaryRequest | IdempotentUnaryRequest | ClientStreamRequest;
/** A request that defines any number of answers. */
type ManyRequest = ServerStreamRequest | BidiStreamRequest;

/** The `cause` of an error that a test case asks for: it goes out as it is, with nothing of the gateway's. */
export const asked = Symbol("asked for by the test case");

/**
 * Answers a call of the suite's service: each request says what to answer and when, and the answer tells what
 * was seen of the request (the comments of service.proto).
 * @throws ConnectError with the cause `asked`; InfraError for what the method never does
 */
export async function* answerCall(
  method: DescMethod,
  inputs: Inputs,
  context: AnswerContext,
): AsyncGenerator<object, void> {
  if (method === ConformanceService.method.unimplemented) {
    throw new InfraError("NOT_BUILT", `${method.name} is never implemented`);
  }
  switch (method.methodKind) {
    case "unary":
      yield await answerOnce([(await inputs.single()) as OnceRequest], method, context);
      return;
    case "client_streaming":
      yield await answerOnce(await readAll(inputs.all as AsyncIterable<OnceRequest>), method, context);
      return;
    case "server_streaming":
      yield* answerMany([(await inputs.single()) as ManyRequest], method, context);
      return;
    case "bidi_streaming":
      yield* answerBidi(inputs.all as AsyncIterable<BidiStreamRequest>, method, context);
  }
}

async function answerOnce(
  requests: readonly OnceRequest[],
  method: DescMethod,
  context: AnswerContext,
): Promise<object> {
  const definition = requests[0]?.responseDefinition;
  const requestInfo = requestInfoOf(requests, method, context);
  setMetadata(definition, context);
  await delay(definition, context);
  const response = definition?.response;
  if (response?.case === "error") {
    throw askedError(response.value, requestInfo);
  }
  const data = response?.case === "responseData" ? response.value : new Uint8Array();
  return { payload: create(ConformancePayloadSchema, { data, requestInfo }) };
}

async function* answerMany(
  requests: readonly ManyRequest[],
  method: DescMethod,
  context: AnswerContext,
): AsyncGenerator<object, void> {
  const definition = requests[0]?.responseDefinition;
  let requestInfo: ConformancePayload_RequestInfo | undefined = requestInfoOf(requests, method, context);
  setMetadata(definition, context);
  for (const data of definition?.responseData ?? []) {
    await delay(definition, context);
    yield { payload: { data, requestInfo } };
    requestInfo = undefined;
  }
  if (definition?.error !== undefined) {
    throw askedError(definition.error, requestInfo);
  }
}

async function* answerBidi(
  requests: AsyncIterable<BidiStreamRequest>,
  method: DescMethod,
  context: AnswerContext,
): AsyncGenerator<object, void> {
  const reader = requests[Symbol.asyncIterator]();
  const first = await reader.next();
  if (first.done === true) {
    return;
  }
  const definition = first.value.responseDefinition;
  if (!first.value.fullDuplex) {
    const rest = await readAll({ [Symbol.asyncIterator]: () => reader });
    yield* answerMany([first.value, ...rest], method, context);
    return;
  }
  setMetadata(definition, context);
  let requestInfo: ConformancePayload_RequestInfo | undefined = requestInfoOf([first.value], method, context);
  let isFirst = true;
  for (const data of definition?.responseData ?? []) {
    if (!isFirst) {
      const next = await reader.next();
      const packed = next.done === true ? [] : [anyPack(method.input, next.value)];
      requestInfo = create(ConformancePayload_RequestInfoSchema, { requests: packed });
    }
    await delay(definition, context);
    yield { payload: { data, requestInfo } };
    isFirst = false;
  }
  if (definition?.error !== undefined) {
    throw askedError(definition.error, isFirst ? requestInfo : undefined);
  }
}

function requestInfoOf(
  requests: readonly (OnceRequest | ManyRequest)[],
  method: DescMethod,
  context: AnswerContext,
): ConformancePayload_RequestInfo {
  const timeoutMs = context.timeoutMs();
  const queryParams = [...new URL(context.url).searchParams].map(([name, value]) => ({
    name,
    value: [value],
  }));
  return create(ConformancePayload_RequestInfoSchema, {
    requestHeaders: [...context.requestHeader].map(([name, value]) => ({ name, value: [value] })),
    requests: requests.map((request) => anyPack(method.input, request)),
    ...(timeoutMs === undefined ? {} : { timeoutMs: BigInt(timeoutMs) }),
    ...(context.requestMethod === "GET" ? { connectGetInfo: { queryParams } } : {}),
  });
}

function setMetadata(
  definition: UnaryResponseDefinition | StreamResponseDefinition | undefined,
  context: AnswerContext,
): void {
  const append = (target: Pick<Headers, "append">, headers: readonly Header[]) => {
    for (const { name, value } of headers) {
      for (const one of value) {
        target.append(name, one);
      }
    }
  };
  append(context.responseHeader, definition?.responseHeaders ?? []);
  append(context.responseTrailer, definition?.responseTrailers ?? []);
}

function delay(
  definition: UnaryResponseDefinition | StreamResponseDefinition | undefined,
  { signal }: AnswerContext,
): Promise<void> {
  const delayMs = definition?.responseDelayMs ?? 0;
  return delayMs === 0 ? Promise.resolve() : sleep(delayMs, undefined, { signal });
}

function askedError(
  error: SuiteError,
  requestInfo: ConformancePayload_RequestInfo | undefined,
): ConnectError {
  // The suite numbers its codes as the protocols do.
  const wire = new ConnectError(error.message ?? "", error.code as number as Code, undefined, [], asked);
  for (const { typeUrl, value } of error.details) {
    wire.details.push({ type: typeUrl.slice(typeUrl.lastIndexOf("/") + 1), value });
  }
  if (requestInfo !== undefined) {
    wire.details.push({ desc: ConformancePayload_RequestInfoSchema, value: requestInfo });
  }
  return wire;
}

async function readAll<T>(messages: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const message of messages) {
    all.push(message);
  }
  return all;
}
