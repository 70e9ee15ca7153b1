import type { DescMethod } from "@bufbuild/protobuf";
import {
  createAsyncIterable,
  type UniversalServerRequest,
  type UniversalServerResponse,
} from "@connectrpc/connect/protocol";
import { refusalTexts } from "../http/refusal.ts";
import { compressions } from "../wire/compression.ts";
import { grpcWebTextType, grpcWebType } from "../wire/grpc-web-text.ts";

/**
 * Adds what connect-es leaves out of a refusal: the text of a plain HTTP status, and the supported compressions for a request
 * with an unsupported one.
 */
export function explained(
  method: DescMethod,
  request: UniversalServerRequest,
  answer: UniversalServerResponse,
): UniversalServerResponse {
  const text = answer.status === 415 ? describeUnsupported(method, request) : refusalTexts[answer.status];
  if (answer.body !== undefined || text === undefined) {
    return withAcceptedEncodings(request, answer);
  }
  const header = new Headers(answer.header);
  header.set("content-type", "text/plain");
  return { ...answer, header, body: createAsyncIterable([Buffer.from(`${text}\n`)]) };
}

function describeUnsupported(
  { methodKind }: DescMethod,
  { method, url, header }: UniversalServerRequest,
): string {
  if (method === "GET") {
    const encoding = new URL(url).searchParams.get("encoding") ?? "";
    return `unsupported encoding "${encoding}" in the query (supported: json, proto)`;
  }
  const type = header.get("content-type");
  const supported =
    methodKind === "unary"
      ? ["application/json", "application/proto"]
      : [
          "application/connect+json",
          "application/connect+proto",
          ...(methodKind === "server_streaming"
            ? ["application/json with the header accept: text/event-stream"]
            : []),
        ];
  const all = [...supported, grpcWebType, grpcWebTextType, "application/grpc+proto"].join(", ");
  return `${type === null ? "no content type" : `unsupported content type "${type}"`} (supported: ${all})`;
}

function withAcceptedEncodings(
  { header }: UniversalServerRequest,
  answer: UniversalServerResponse,
): UniversalServerResponse {
  const [, protocol] = /^application\/(grpc|connect\+)/i.exec(header.get("content-type") ?? "") ?? [];
  const prefix = protocol === undefined ? "" : protocol === "grpc" ? "grpc-" : "connect-";
  const encoding = header.get(protocol === "grpc" ? "grpc-encoding" : `${prefix}content-encoding`);
  const isKnown =
    encoding === null || encoding === "identity" || compressions.some(({ name }) => name === encoding);
  if (!isKnown) {
    answer.header?.set(`${prefix}accept-encoding`, compressions.map(({ name }) => name).join(","));
  }
  return answer;
}
