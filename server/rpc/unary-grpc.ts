import { create, type DescMethod } from "@bufbuild/protobuf";
import { Code, ConnectError, createHandlerContext, type HandlerContext } from "@connectrpc/connect";
import {
  assertByteStreamRequest,
  compressionNegotiate,
  createMethodSerializationLookup,
  encodeEnvelope,
  envelopeCompress,
  type UniversalHandlerFn,
  type UniversalHandlerOptions,
  uResponseMethodNotAllowed,
  uResponseOk,
  uResponseUnsupportedMediaType,
  validateUniversalHandlerOptions,
} from "@connectrpc/connect/protocol";
import {
  contentTypeJson,
  contentTypeProto,
  grpcStatusOk,
  headerAcceptEncoding,
  headerContentType,
  headerEncoding,
  headerGrpcStatus,
  headerTimeout,
  parseContentType,
  parseTimeout,
  setTrailerStatus,
} from "@connectrpc/connect/protocol-grpc";
import { messagesOf } from "./envelope-reader.ts";

/** Serves a unary call whose message is read when it is asked for. Only ConnectError may be thrown. */
export type ServeUnary = (messages: AsyncIterable<unknown>, context: HandlerContext) => Promise<object>;

/**
 * Answers unary gRPC as connect-es does, without its chain of ten generators. Each of those is a generator function made
 * for the one call, and V8 makes the initial map of a generator function in the old generation: the map keeps the call,
 * 28 KB, through every scavenge until a full collection.
 */
export function createUnaryGrpcHandler(
  method: DescMethod,
  serve: ServeUnary,
  options: Partial<UniversalHandlerOptions>,
): UniversalHandlerFn {
  const limits = validateUniversalHandlerOptions(options);
  const { acceptCompression, readMaxBytes, compressMinBytes, shutdownSignal } = limits;
  const { binaryOptions, jsonOptions } = limits;
  const serialization = createMethodSerializationLookup(method, binaryOptions, jsonOptions, limits);

  return async (request) => {
    assertByteStreamRequest(request);
    const { header } = request;
    const type = parseContentType(header.get(headerContentType));
    if (type === undefined) {
      return uResponseUnsupportedMediaType;
    }
    if (request.method !== "POST") {
      return uResponseMethodNotAllowed;
    }
    const timeout = parseTimeout(header.get(headerTimeout), limits.maxTimeoutMs);
    const init = {
      method,
      service: method.parent,
      requestMethod: request.method,
      protocolName: "grpc",
      url: request.url,
      timeoutMs: timeout.timeoutMs,
      shutdownSignal,
      requestSignal: request.signal,
      requestHeader: header,
      responseHeader: { [headerContentType]: type.binary ? contentTypeProto : contentTypeJson },
      responseTrailer: { [headerGrpcStatus]: grpcStatusOk },
      contextValues: request.contextValues,
    };
    // Its properties may be undefined, which its type does not say.
    const context = createHandlerContext(init as Parameters<typeof createHandlerContext>[0]);
    const compression = compressionNegotiate(
      acceptCompression,
      header.get(headerEncoding),
      header.get(headerAcceptEncoding),
      headerAcceptEncoding,
    );
    if (compression.response !== null) {
      context.responseHeader.set(headerEncoding, compression.response.name);
    }
    const messages = messagesOf(request.body, {
      serialization: serialization.getI(type.binary),
      readMaxBytes,
      compression: compression.request,
      refusal: compression.error ?? timeout.error,
    });
    const sent: Uint8Array[] = [];
    try {
      const output = create(method.output, (await serve(messages, context)) as Record<string, unknown>);
      const data = serialization.getO(type.binary).serialize(output);
      const envelope = await envelopeCompress({ flags: 0, data }, compression.response, compressMinBytes);
      sent.push(encodeEnvelope(envelope.flags, envelope.data));
    } catch (error) {
      const isKnown = error instanceof ConnectError;
      setTrailerStatus(
        context.responseTrailer,
        isKnown ? error : new ConnectError("internal error", Code.Internal, undefined, undefined, error),
      );
    } finally {
      context.abort();
    }
    const { responseHeader, responseTrailer } = context;
    return { ...uResponseOk, header: responseHeader, body: eachOf(sent), trailer: responseTrailer };
  };
}

async function* eachOf(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array, void> {
  yield* chunks;
}
