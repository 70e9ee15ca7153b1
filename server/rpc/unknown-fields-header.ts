import type { DescMethod, JsonValue } from "@bufbuild/protobuf";
import type { UniversalHandler, UniversalServerRequest } from "@connectrpc/connect/protocol";
import { unknownFieldsOf } from "./unknown-fields.ts";
import { wrapHandler } from "./wrapped-handler.ts";

/** A header is no place for more, nor for names that are longer. */
const maxNames = 20;
const maxNameLength = 64;

/**
 * Names what a method ignores: the JSON fields of a unary Connect call that its message does not have, in the
 * header `hostplane-unknown-fields` of a good answer, percent-encoded and separated by commas. So a typo in a
 * `curl` shows. Requests that are compressed, or come by gRPC or gRPC-Web, are written by programs and get none.
 */
export function withUnknownFieldsHeader(handler: UniversalHandler, method: DescMethod): UniversalHandler {
  const handle = async (request: UniversalServerRequest) => {
    const { textOf, request: observed } = observeJson(request);
    const answer = await handler(observed);
    const text = answer.status === 200 ? textOf() : undefined;
    if (text !== undefined) {
      // The handler has parsed the same text.
      const json: JsonValue = JSON.parse(text);
      setUnknownFieldsHeader(answer.header, unknownFieldsOf(method.input, json));
    }
    return answer;
  };
  return wrapHandler(handler, handle);
}

/** Sets the header if there are names to tell. */
export function setUnknownFieldsHeader(header: Headers | undefined, names: readonly string[]): void {
  if (names.length > 0) {
    // A lone surrogate cannot be encoded.
    const encoded = names
      .slice(0, maxNames)
      .map((name) => encodeURIComponent(name.slice(0, maxNameLength).toWellFormed()));
    header?.set("hostplane-unknown-fields", encoded.join(", "));
  }
}

/** The request, and its JSON once it has been read; undefined where there is none to look at. */
function observeJson(request: UniversalServerRequest): {
  readonly request: UniversalServerRequest;
  readonly textOf: () => string | undefined;
} {
  if (request.method === "GET") {
    const query = new URL(request.url).searchParams;
    const isPlain =
      query.get("encoding") === "json" && query.get("base64") !== "1" && !query.has("compression");
    return { request, textOf: () => (isPlain ? (query.get("message") ?? undefined) : undefined) };
  }
  const { body, header } = request;
  const isJson = /^application\/json($|[ ;])/i.test(header.get("content-type") ?? "");
  if (!isJson || header.has("content-encoding") || !isByteStream(body)) {
    return { request, textOf: () => undefined };
  }
  const chunks: Uint8Array[] = [];
  return {
    request: { ...request, body: keeping(body, chunks) },
    textOf: () => new TextDecoder().decode(Buffer.concat(chunks)),
  };
}

async function* keeping(
  body: AsyncIterable<Uint8Array>,
  chunks: Uint8Array[],
): AsyncGenerator<Uint8Array, void> {
  for await (const chunk of body) {
    chunks.push(chunk);
    yield chunk;
  }
}

function isByteStream(body: UniversalServerRequest["body"]): body is AsyncIterable<Uint8Array> {
  return typeof body === "object" && body !== null && Symbol.asyncIterator in body;
}
