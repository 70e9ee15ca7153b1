import type { Message } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import {
  assertByteStreamRequest,
  type Compression,
  compressionNegotiate,
  readAllBytes,
  type UniversalServerRequest,
} from "@connectrpc/connect/protocol";
import { parseTimeout as parseConnectTimeout } from "@connectrpc/connect/protocol-connect";
import { parseTimeout as parseGrpcTimeout } from "@connectrpc/connect/protocol-grpc";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../../adapters/host/reasons.ts";
import { callerLeft } from "../../call/caller-left.ts";
import type { RequestFacts } from "../../call/request-facts.ts";
import type { Route } from "../../call/router.ts";
import { connectErrorFromInfraError } from "../../errors/connect-error.ts";
import { compressions } from "../wire/compression.ts";
import { encodeUnknownFields, unknownFieldsHeader } from "../wire/unknown-fields-header.ts";
import { requestHeadersOf, responseHeadersOf } from "./exchange-headers.ts";

/** Reads a whole body, decompressed. @throws ConnectError, InfraError */
export type ReadBody = () => Promise<Uint8Array>;

/** The message of a request, and the unknown names in it that were ignored. */
export interface HttpMessage {
  readonly message: Message;
  readonly unknownFields: readonly string[];
}

/** A call that has begun. */
export interface HttpCall {
  readonly outputs: AsyncIterator<object, void>;
  /** Headers of the answer. */
  readonly header: Headers;
  /** Compression of the answer that the client accepts. */
  readonly compression: Compression | null;
  /** Names unknown fields of the request in a response header. For answers that are not errors. */
  noteUnknownFields(): void;
  /** Ends whatever is still running. */
  close(): Promise<void>;
}

/**
 * Calls a method for a plain HTTP request. Its message is read inside the call, so that a caller without permission gets that
 * error first. Errors in the request are thrown by the first of the outputs.
 * @param protocol name for the log and the metrics
 * @param answerHeaders initial headers of the answer
 */
export function beginHttpCall(
  served: Route,
  protocol: "rest" | "sse",
  request: UniversalServerRequest,
  facts: RequestFacts,
  answerHeaders: Readonly<Record<string, string>>,
  readMessage: (readBody: ReadBody) => Promise<HttpMessage>,
): HttpCall {
  const answerHeader = new Headers(answerHeaders);
  const { timeoutMs, error: timeoutError } = timeoutOf(request.header);
  const deadlineAtMs = timeoutMs === undefined ? undefined : performance.now() + timeoutMs;
  const compression = compressionNegotiate(
    compressions,
    request.header.get("content-encoding"),
    request.header.get("accept-encoding"),
    "accept-encoding",
  );
  let unknownFields: readonly string[] = [];

  async function readInput(): Promise<Message> {
    const refusal = timeoutError ?? compression.error;
    if (refusal !== undefined) {
      throw refusal;
    }
    const read = await readMessage(() => readWhole(request, compression.request, served.readMaxBytes));
    unknownFields = read.unknownFields;
    return read.message;
  }

  const call = served.begin({
    method: served.method,
    protocol,
    codec: protocol === "sse" ? "sse" : "json",
    facts,
    ...requestHeadersOf(request.header),
    ...responseHeadersOf(answerHeader),
    appendTrailer: () => {},
    timeLeftMs: () => (deadlineAtMs === undefined ? undefined : deadlineAtMs - performance.now()),
    readInput,
  });
  call.endWith(request.signal);
  const outputs = served.outputs(call);
  return {
    outputs,
    header: answerHeader,
    compression: compression.response,
    noteUnknownFields() {
      if (unknownFields.length > 0) {
        answerHeader.set(unknownFieldsHeader, encodeUnknownFields(unknownFields));
      }
    },
    async close() {
      // Done first, because a pending output would delay the end.
      call.end(callerLeft);
      await outputs.return();
    },
  };
}

/**
 * Returns the error for the client from an exception of the call or of encoding its answer. Bugs in the gateway are thrown again,
 * to be logged.
 */
export function httpErrorFrom(thrown: unknown): ConnectError {
  if (thrown instanceof ConnectError) {
    return thrown;
  }
  if (thrown instanceof InfraError) {
    return connectErrorFromInfraError(thrown);
  }
  throw thrown;
}

/** Returns the client's deadline, from either header. */
function timeoutOf(header: Headers) {
  const connect = header.get("connect-timeout-ms");
  return connect === null
    ? parseGrpcTimeout(header.get("grpc-timeout"), Number.MAX_SAFE_INTEGER)
    : parseConnectTimeout(connect, Number.MAX_SAFE_INTEGER);
}

async function readWhole(
  request: UniversalServerRequest,
  compression: Compression | null,
  maxBytes: number,
): Promise<Uint8Array> {
  assertByteStreamRequest(request);
  let bytes: Uint8Array;
  try {
    bytes = await readAllBytes(request.body, maxBytes);
  } catch (cause) {
    if (cause instanceof ConnectError) {
      throw cause;
    }
    throw new InfraError(hostReasons.CALLER_LEFT, "the caller left before the request was complete", {
      cause,
    });
  }
  return compression === null || bytes.byteLength === 0
    ? bytes
    : compression.decompress(new Uint8Array(bytes), maxBytes);
}
