import type { DescMethod, Message } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import type { UniversalServerRequest } from "@connectrpc/connect/protocol";
import { InfraError } from "../../adapters/host/infra-error.ts";
import { type Call, operationHeader } from "./call.ts";
import { anonymous, type Caller } from "./caller.ts";
import { type ClosableSink, createDirectSink } from "./direct-sink.ts";
import { untilCallEnds } from "./guard.ts";
import type { MethodRule } from "./method-rule.ts";
import { type RequestFacts, requestFactsKey } from "./request-facts.ts";
import type { Codec } from "./shared-message.ts";

/** A call as its router has it. */
export interface RoutedCall extends Call {
  /** Closes the sink of a call whose handler has ended. */
  closeSink(): void;
}

/** What may wait for a client that does not keep up, and for how long once its call has ended. */
const maxUnsentBytesDefault = 1024 * 1024;
const sinkLingerMs = 30_000;

/** As `HandlerContext.protocolName` has them. */
const protocolNames = ["connect", "grpc", "grpc-web", "rest", "sse"] as const;

/** Limits of the gateway that a call keeps to. */
export interface CallLimits {
  /** The longest a unary call may take, whatever the client allows; streams have no cap. */
  readonly maxDeadlineMs: number;
  /** The largest message written, in bytes. */
  readonly maxMessageBytes: number;
}

/**
 * The call of an RPC that connect-es carries.
 * @param readInput reads the one message of the request
 */
export function callFromHandlerContext(
  context: HandlerContext,
  rule: MethodRule,
  limits: CallLimits,
  readInput: () => Promise<unknown>,
): RoutedCall {
  const cap = context.method.methodKind === "unary" ? performance.now() + limits.maxDeadlineMs : undefined;
  const call = createCall({
    method: context.method,
    rule,
    protocol: protocolNames.find((name) => name === context.protocolName) ?? "connect",
    facts: context.values.get(requestFactsKey),
    signal: context.signal,
    header: context.requestHeader,
    setHeader: (name, value) => context.responseHeader.set(name, value),
    appendHeader: (name, value) => context.responseHeader.append(name, value),
    timeLeftMs() {
      const clientsMs = context.timeoutMs();
      const ownMs = cap === undefined ? undefined : cap - performance.now();
      return clientsMs === undefined ? ownMs : Math.min(clientsMs, ownMs ?? clientsMs);
    },
    readInput: () => untilCallEnds(call, readInput()) as Promise<Message>,
    maxMessageBytes: limits.maxMessageBytes,
  });
  return call;
}

/**
 * The call of a unary Connect request that connect-es refused before it became one, so that the links of the
 * chain (log, limits) see it too.
 * @param header of the answer
 * @param error what connect-es refused it with
 */
export function callFromRefusedRequest(
  method: DescMethod,
  rule: MethodRule,
  request: UniversalServerRequest,
  header: Headers,
  error: InfraError,
): Call {
  return createCall({
    method,
    rule,
    protocol: "connect",
    facts: request.contextValues?.get(requestFactsKey) ?? requestFactsKey.defaultValue,
    signal: request.signal,
    header: request.header,
    setHeader: (name, value) => header.set(name, value),
    appendHeader: (name, value) => header.append(name, value),
    timeLeftMs: () => undefined,
    readInput: () => Promise.reject(error),
    maxMessageBytes: 0,
  });
}

interface CallParts
  extends Pick<Call, "method" | "rule" | "protocol" | "timeLeftMs" | "setHeader" | "appendHeader"> {
  readonly facts: RequestFacts;
  /** Aborted when the caller leaves or the gateway stops. */
  readonly signal: AbortSignal;
  readonly header: Headers;
  readonly readInput: () => Promise<Message>;
  readonly maxMessageBytes: number;
}

/**
 * No property of a call is a getter: V8 makes the accessor of an object literal in the old generation, and it keeps the
 * call through every scavenge until a full collection.
 */
function createCall(parts: CallParts): RoutedCall {
  let resource: string | undefined;
  let operationId: string | undefined;
  let input: Promise<Message> | undefined;
  let sink: ClosableSink | undefined;

  const ending = new AbortController();
  const { signal } = parts;
  if (signal.aborted) {
    ending.abort(signal.reason);
  } else {
    signal.addEventListener("abort", () => ending.abort(signal.reason), { once: true });
  }

  const call: RoutedCall & { caller: Caller } = {
    method: parts.method,
    rule: parts.rule,
    protocol: parts.protocol,
    peer: parts.facts.peer,
    requestId: parts.facts.requestId,
    caller: anonymous,
    identify: (who) => {
      call.caller = who;
    },
    input: () => {
      input ??= parts.readInput();
      return input;
    },
    timeLeftMs: parts.timeLeftMs,
    signal: ending.signal,
    end: (error) => ending.abort(error),
    headerNames: () => parts.header.keys(),
    header: (name) => parts.header.get(name) ?? undefined,
    noteResource: (name) => {
      resource = name;
    },
    resource: () => resource,
    noteOperation: (id) => {
      operationId = id;
      parts.setHeader(operationHeader, id);
    },
    operationId: () => operationId,
    setHeader: parts.setHeader,
    appendHeader: parts.appendHeader,
    openSink(maxUnsentBytes = maxUnsentBytesDefault) {
      const { response, onDirectWrite } = parts.facts;
      if (parts.protocol === "rest") {
        throw new InfraError("NOT_BUILT", `${parts.method.name} cannot be streamed over REST`);
      }
      if (response?.headersSent !== true || parts.method.methodKind === "unary") {
        throw new TypeError(`${parts.method.name} has written nothing yet that a sink could go on with`);
      }
      const { maxMessageBytes } = parts;
      const limits = { maxUnsentBytes, maxMessageBytes, lingerMs: sinkLingerMs };
      const end = (error: InfraError) => ending.abort(error);
      sink ??= createDirectSink(response, codecOf(parts), limits, end, onDirectWrite);
      return sink;
    },
    closeSink: () => sink?.close(),
  };
  return call;
}

function codecOf({ protocol, header }: CallParts): Codec {
  if (protocol === "sse") {
    return "sse";
  }
  return /\+json\b/i.test(header.get("content-type") ?? "") ? "json" : "binary";
}
