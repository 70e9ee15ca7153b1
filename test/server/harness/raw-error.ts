import { ConnectError } from "@connectrpc/connect";
import { errorFromJson } from "@connectrpc/connect/protocol-connect";
import { findTrailerError } from "@connectrpc/connect/protocol-grpc";
import { envelopesFrom } from "./envelopes.ts";
import type { RawAnswer } from "./raw-request.ts";
import { type RpcError, rpcErrorFrom } from "./rpc-error.ts";

/**
 * Parses the error of an answer in the protocol that its content type names; undefined if it has none.
 * @throws Error when the answer has the form of no protocol
 */
export function errorFromAnswer(answer: RawAnswer): RpcError | undefined {
  const type = String(answer.headers["content-type"]);
  if (type.startsWith("application/grpc")) {
    return errorFromStatus(grpcStatusOf(answer, type.startsWith("application/grpc-web")));
  }
  if (type.startsWith("application/connect+")) {
    const end = envelopesFrom(answer.body).at(-1);
    if (end?.flags !== 2) {
      throw new Error("the stream has no end-of-stream message");
    }
    const { error } = JSON.parse(end.data.toString());
    return error === undefined ? undefined : rpcErrorFrom(errorFromJson(error, undefined, noError()));
  }
  if (answer.status === 200) {
    return undefined;
  }
  return rpcErrorFrom(errorFromJson(JSON.parse(answer.body.toString()), undefined, noError()));
}

/**
 * Returns grpc-status and related fields, from the headers of a trailers-only answer, from the trailers, or from gRPC-Web's body.
 */
function grpcStatusOf(answer: RawAnswer, isWeb: boolean): Headers {
  if (answer.headers["grpc-status"] !== undefined) {
    return headersFrom(answer.headers);
  }
  if (!isWeb) {
    return headersFrom(answer.trailers);
  }
  const end = envelopesFrom(answer.body).at(-1);
  if (end?.flags !== 0x80) {
    throw new Error("the answer has no trailers in its body");
  }
  const lines = end.data.toString().split("\r\n").filter(Boolean);
  return new Headers(lines.map((line) => line.split(/: */s, 2) as [string, string]));
}

function errorFromStatus(status: Headers): RpcError | undefined {
  if (!status.has("grpc-status")) {
    throw new Error("the answer has no grpc-status");
  }
  const error = findTrailerError(status);
  return error === undefined ? undefined : rpcErrorFrom(error);
}

function headersFrom(headers: RawAnswer["headers"]): Headers {
  return new Headers(Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]));
}

function noError(): ConnectError {
  return new ConnectError("the answer is no error of Connect");
}
