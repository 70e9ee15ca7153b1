import type { ConnectError } from "@connectrpc/connect";
import { grpcStatusOk, setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { trailerFlag, trailerSerialize } from "@connectrpc/connect/protocol-grpc-web";
import { envelopeOf } from "./envelope.ts";

/** Returns the trailers that end a gRPC call, or the headers of an answer that has nothing else. */
export function grpcTrailers(
  trailers: Headers | undefined,
  error: ConnectError | undefined,
): Record<string, string> {
  if (trailers === undefined && error === undefined) {
    return { "grpc-status": grpcStatusOk };
  }
  const all = Object.fromEntries(setTrailerStatus(new Headers(trailers), error));
  return all["grpc-message"] === undefined
    ? all
    : { ...all, "grpc-message": grpcMessage(all["grpc-message"]) };
}

/** Encodes a `grpc-message` for grpc-js, whose `decodeURI` keeps the ':' and '/' that connect-es escapes. */
export function grpcMessage(escaped: string): string {
  return encodeURI(decodeURIComponent(escaped));
}

/** Returns the envelope that ends a gRPC-Web call. */
export function grpcWebEnd(trailers: Headers | undefined, error: ConnectError | undefined): Buffer {
  return envelopeOf(trailerSerialize(setTrailerStatus(new Headers(trailers), error)), trailerFlag);
}
