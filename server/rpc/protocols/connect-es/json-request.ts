import type { DescMethod, JsonValue } from "@bufbuild/protobuf";
import type { UniversalHandler, UniversalServerRequest } from "@connectrpc/connect/protocol";
import { compressions } from "../wire/compression.ts";
import { envelopeHeadBytes } from "../wire/envelope.ts";
import { jsonTextOf } from "../wire/json-text.ts";
import { unknownFieldsOf } from "../wire/unknown-fields.ts";
import { setUnknownFieldsHeader } from "../wire/unknown-fields-header.ts";
import { wrapHandler } from "./wrapped-handler.ts";

export interface JsonRequestOptions {
  readonly readMaxBytes: number;
  /** Whether fields that the message does not have are ignored; the answer then names them. */
  readonly ignoresUnknownFields: boolean;
}

/**
 * Checks the JSON of requests alongside connect-es: refuses bytes that are not UTF-8, and names the ignored fields in a response
 * header.
 */
export function withJsonRequests(
  handler: UniversalHandler,
  method: DescMethod,
  options: JsonRequestOptions,
): UniversalHandler {
  return wrapHandler(handler, async (request) => {
    let names: readonly string[] = [];
    const note = (text: string) => {
      names = options.ignoresUnknownFields ? unknownFieldsOf(method.input, parsed(text)) : [];
    };
    const answer = await handler(observed(request, options.readMaxBytes, note));
    if (answer.status !== 200 || answer.body === undefined) {
      return answer;
    }
    // A stream's request is read only when the first part of its answer is read, before the headers are sent.
    const setHeader = () => setUnknownFieldsHeader(answer.header, names);
    return { ...answer, body: afterFirst(answer.body, setHeader) };
  });
}

/** Wraps the request so that its JSON is passed to `note` once it is read. */
function observed(
  request: UniversalServerRequest,
  readMaxBytes: number,
  note: (text: string) => void,
): UniversalServerRequest {
  if (request.method === "GET") {
    const query = new URL(request.url).searchParams;
    if (query.get("encoding") === "json" && query.get("base64") !== "1" && !query.has("compression")) {
      note(query.get("message") ?? "");
    }
    return request;
  }
  const { body, header } = request;
  const isJson = /^application\/(?:(?:connect|grpc|grpc-web)\+)?json($|[ ;])/i.test(
    header.get("content-type") ?? "",
  );
  return isJson && isByteStream(body)
    ? { ...request, body: reading(body, header, readMaxBytes, note) }
    : request;
}

async function* reading(
  body: AsyncIterable<Uint8Array>,
  header: Headers,
  readMaxBytes: number,
  note: (text: string) => void,
): AsyncGenerator<Uint8Array, void> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) {
    chunks.push(chunk);
  }
  const json = await jsonOf(Buffer.concat(chunks), header, readMaxBytes);
  if (json !== undefined) {
    note(jsonTextOf(json));
  }
  yield* chunks;
}

/** Returns the JSON of a body; undefined for a body that connect-es will refuse. */
async function jsonOf(
  body: Uint8Array,
  header: Headers,
  readMaxBytes: number,
): Promise<Uint8Array | undefined> {
  const [, protocol] = /^application\/(?:(\S+?)\+)?json/i.exec(header.get("content-type") ?? "") ?? [];
  const isEnveloped = protocol !== undefined;
  const encoding = header.get(
    !isEnveloped ? "content-encoding" : protocol === "connect" ? "connect-content-encoding" : "grpc-encoding",
  );
  const isCompressed = isEnveloped
    ? ((body[0] ?? 0) & 1) === 1
    : encoding !== null && encoding !== "identity";
  const message = new Uint8Array(isEnveloped ? body.subarray(envelopeHeadBytes) : body);
  if (!isCompressed) {
    return message;
  }
  try {
    return await compressions.find(({ name }) => name === encoding)?.decompress(message, readMaxBytes);
  } catch {
    return undefined;
  }
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function* afterFirst(
  body: AsyncIterable<Uint8Array>,
  act: () => void,
): AsyncGenerator<Uint8Array, void> {
  let isFirst = true;
  for await (const chunk of body) {
    if (isFirst) {
      isFirst = false;
      act();
    }
    yield chunk;
  }
}

function isByteStream(body: UniversalServerRequest["body"]): body is AsyncIterable<Uint8Array> {
  return typeof body === "object" && body !== null && Symbol.asyncIterator in body;
}
