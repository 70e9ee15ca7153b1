import { ConnectError, createHandlerContext } from "@connectrpc/connect";
import {
  assertByteStreamRequest,
  type Compression,
  compressionNegotiate,
  createAsyncIterable,
  readAllBytes,
  type UniversalServerRequest,
  type UniversalServerResponse,
} from "@connectrpc/connect/protocol";
import { parseTimeout as parseConnectTimeout } from "@connectrpc/connect/protocol-connect";
import { parseTimeout as parseGrpcTimeout } from "@connectrpc/connect/protocol-grpc";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { compressions } from "../compression.ts";
import { connectErrorFromInfraError } from "../errors.ts";
import type { ServedRoute } from "../router.ts";
import { setUnknownFieldsHeader } from "../unknown-fields-header.ts";
import { answerJson } from "./answer-json.ts";
import { readRestRequest } from "./read-request.ts";
import { errorBodyOf, errorHeadersOf, httpStatusOf, streamErrorOf } from "./rest-error.ts";
import type { RestRoute } from "./rest-routes.ts";

export interface RestHandlerOptions {
  /** The largest body read or message written, in bytes, after decompression. */
  readonly maxMessageBytes: number;
  /** Aborted when the gateway stops. */
  readonly shutdownSignal: AbortSignal;
}

/** Where a request goes, as its path has said. */
export interface RestTarget {
  /** Path and query as they were sent. */
  readonly url: string;
  readonly variables: ReadonlyMap<string, string>;
}

/** Answers a REST request by the call path of its method. */
export type RestHandler = (
  request: UniversalServerRequest,
  target: RestTarget,
) => Promise<UniversalServerResponse>;

/** A body that is smaller is not compressed, as connect-es has it. */
const compressMinBytes = 1024;

/**
 * Calls a method by its REST route: what the request is made of is read inside of the call, so that whoever may not call is
 * told that first. A stream is answered with one JSON text a line, `{"result": …}` each, and `{"error": …}` if it ends with
 * an error; an error before the first line is answered like that of any call.
 */
export function createRestHandler(
  served: ServedRoute,
  route: RestRoute,
  { maxMessageBytes, shutdownSignal }: RestHandlerOptions,
): RestHandler {
  const { method } = route;
  const isStream = method.methodKind !== "unary";
  const jsonOf = (output: object) => answerJson(method.output, output, route.responseField, maxMessageBytes);

  return async (request, target) => {
    const { header } = request;
    const timeout = timeoutOf(header);
    const init = {
      method,
      service: method.parent,
      requestMethod: request.method,
      protocolName: "rest",
      url: request.url,
      timeoutMs: timeout.timeoutMs,
      shutdownSignal,
      requestSignal: request.signal,
      requestHeader: header,
      responseHeader: { "content-type": isStream ? "application/x-ndjson" : "application/json" },
      contextValues: request.contextValues,
    };
    // Its properties may be undefined, which its type does not say.
    const context = createHandlerContext(init as Parameters<typeof createHandlerContext>[0]);
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
      const contentType = header.get("content-type") ?? undefined;
      const readBody = () => readWhole(request, compression.request, maxMessageBytes);
      const read = await readRestRequest(route, { ...target, contentType, readBody }, served.rule.mutation);
      unknownFields = read.unknownFields;
      return read.message;
    }

    const outputs = served.serve({ single, all: createAsyncIterable([]) }, context)[Symbol.asyncIterator]();
    let isOpen = false;
    try {
      const first = await outputs.next();
      setUnknownFieldsHeader(context.responseHeader, unknownFields);
      if (isStream) {
        isOpen = true;
        const body = linesOf(first, outputs, jsonOf, context);
        return { status: 200, header: context.responseHeader, body };
      }
      return await answerOf(request, 200, context.responseHeader, jsonOf(first.value), compression.response);
    } catch (thrown) {
      const error = wireErrorFrom(thrown);
      for (const [name, value] of Object.entries(errorHeadersOf(error))) {
        context.responseHeader.set(name, value);
      }
      const body = Buffer.from(JSON.stringify(errorBodyOf(error)));
      const status = httpStatusOf(error);
      return await answerOf(request, status, context.responseHeader, body, compression.response);
    } finally {
      if (!isOpen) {
        await outputs.return?.();
        context.abort();
      }
    }
  };
}

/** The deadline that the client has set by either header. */
function timeoutOf(header: Headers) {
  const connect = header.get("connect-timeout-ms");
  return connect === null
    ? parseGrpcTimeout(header.get("grpc-timeout"), Number.MAX_SAFE_INTEGER)
    : parseConnectTimeout(connect, Number.MAX_SAFE_INTEGER);
}

/** What the call has thrown, or what is wrong with its answer. A fault of ours is thrown on, to be logged. */
function wireErrorFrom(thrown: unknown): ConnectError {
  if (thrown instanceof ConnectError) {
    return thrown;
  }
  if (thrown instanceof InfraError) {
    return connectErrorFromInfraError(thrown);
  }
  throw thrown;
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
    throw new InfraError("CALLER_LEFT", "the caller has left before the request was whole", { cause });
  }
  return compression === null || bytes.byteLength === 0
    ? bytes
    : compression.decompress(new Uint8Array(bytes), maxBytes);
}

async function answerOf(
  { method }: UniversalServerRequest,
  status: number,
  header: Headers,
  json: Buffer,
  compression: Compression | null,
): Promise<UniversalServerResponse> {
  const isCompressed = compression !== null && json.byteLength >= compressMinBytes;
  const body = isCompressed ? await compression.compress(new Uint8Array(json)) : json;
  if (isCompressed) {
    header.set("content-encoding", compression.name);
  }
  header.set("content-length", String(body.byteLength));
  return method === "HEAD" ? { status, header } : { status, header, body: createAsyncIterable([body]) };
}

async function* linesOf(
  first: IteratorResult<object>,
  outputs: AsyncIterator<object>,
  jsonOf: (output: object) => Buffer,
  context: ReturnType<typeof createHandlerContext>,
): AsyncGenerator<Uint8Array, void> {
  try {
    for (let next = first; next.done !== true; next = await outputs.next()) {
      yield Buffer.from(`{"result":${jsonOf(next.value)}}\n`);
    }
  } catch (thrown) {
    yield Buffer.from(`${JSON.stringify(streamErrorOf(wireErrorFrom(thrown)))}\n`);
  } finally {
    await outputs.return?.();
    context.abort();
  }
}
