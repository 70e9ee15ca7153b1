import { ConnectError, createHandlerContext, type HandlerContext } from "@connectrpc/connect";
import {
  assertByteStreamRequest,
  type Compression,
  compressionNegotiate,
  createAsyncIterable,
  readAllBytes,
  type UniversalServerRequest,
} from "@connectrpc/connect/protocol";
import { parseTimeout as parseConnectTimeout } from "@connectrpc/connect/protocol-connect";
import { parseTimeout as parseGrpcTimeout } from "@connectrpc/connect/protocol-grpc";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { ServedRoute } from "../../call/router.ts";
import { connectErrorFromInfraError } from "../../errors/connect-error.ts";
import { compressions } from "../wire/compression.ts";
import { setUnknownFieldsHeader } from "../wire/unknown-fields-header.ts";
import type { RestMessage } from "./read-request.ts";

export interface HttpCallOptions {
  /** The largest message written, in bytes. */
  readonly maxMessageBytes: number;
  /** Aborted when the gateway stops. */
  readonly shutdownSignal: AbortSignal;
}

/** Reads a whole body, decompressed. @throws ConnectError, InfraError */
export type ReadBody = () => Promise<Uint8Array>;

/** A call that has begun. */
export interface HttpCall {
  readonly outputs: AsyncIterator<object>;
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
  served: ServedRoute,
  protocol: "rest" | "sse",
  request: UniversalServerRequest,
  answerHeaders: Readonly<Record<string, string>>,
  readMessage: (readBody: ReadBody) => Promise<RestMessage>,
  { shutdownSignal }: Pick<HttpCallOptions, "shutdownSignal">,
): HttpCall {
  const { method } = served.handle;
  const { header } = request;
  const timeout = timeoutOf(header);
  const init = {
    method,
    service: method.parent,
    requestMethod: request.method,
    protocolName: protocol,
    url: request.url,
    timeoutMs: timeout.timeoutMs,
    shutdownSignal,
    requestSignal: request.signal,
    requestHeader: header,
    responseHeader: answerHeaders,
    contextValues: request.contextValues,
  };
  // Its properties may be undefined, although its type does not allow that.
  const context: HandlerContext & { abort(): void } = createHandlerContext(
    init as Parameters<typeof createHandlerContext>[0],
  );
  const compression = compressionNegotiate(
    compressions,
    header.get("content-encoding"),
    header.get("accept-encoding"),
    "accept-encoding",
  );
  let unknownFields: readonly string[] = [];

  async function single(): Promise<unknown> {
    const refusal = timeout.error ?? compression.error;
    if (refusal !== undefined) {
      throw refusal;
    }
    const read = await readMessage(() => readWhole(request, compression.request, served.readMaxBytes));
    unknownFields = read.unknownFields;
    return read.message;
  }

  const outputs = served.serve({ single, all: createAsyncIterable([]) }, context)[Symbol.asyncIterator]();
  return {
    outputs,
    header: context.responseHeader,
    compression: compression.response,
    noteUnknownFields: () => setUnknownFieldsHeader(context.responseHeader, unknownFields),
    async close() {
      // Done first, because a pending output would delay the end.
      context.abort();
      await outputs.return?.();
    },
  };
}

/**
 * Returns the error for the client from an exception of the call or of encoding its answer. Bugs in the gateway are thrown again,
 * to be logged.
 */
export function wireErrorFrom(thrown: unknown): ConnectError {
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
    throw new InfraError("CALLER_LEFT", "the caller left before the request was complete", { cause });
  }
  return compression === null || bytes.byteLength === 0
    ? bytes
    : compression.decompress(new Uint8Array(bytes), maxBytes);
}
