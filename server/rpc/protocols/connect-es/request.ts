import type { JsonValue } from "@bufbuild/protobuf";
import type { UniversalHandlerFn, UniversalServerRequest } from "@connectrpc/connect/protocol";
import type { Route } from "../../call/router.ts";
import { compressions } from "../wire/compression.ts";
import { envelopeHeadBytes } from "../wire/envelope.ts";
import { jsonTextOf } from "../wire/json-text.ts";
import { unknownFieldsOf } from "../wire/unknown-fields.ts";
import { encodeUnknownFields, unknownFieldsHeader } from "../wire/unknown-fields-header.ts";

/**
 * Checks the JSON of requests alongside connect-es: refuses bytes that are not UTF-8, and names the ignored fields in a response
 * header.
 */
export function withJsonRequests(
  handler: UniversalHandlerFn,
  { method, readMaxBytes, jsonOptions }: Route,
): UniversalHandlerFn {
  return async (request) => {
    let names: readonly string[] = [];
    const note = (text: string) => {
      names = jsonOptions.ignoreUnknownFields === true ? unknownFieldsOf(method.input, parsed(text)) : [];
    };
    const answer = await handler(observed(request, readMaxBytes, note));
    if (answer.status !== 200 || answer.body === undefined) {
      return answer;
    }
    // A stream's request is read only when the first part of its answer is read, before the headers are sent.
    const setHeader = () => {
      if (names.length > 0) {
        answer.header?.set(unknownFieldsHeader, encodeUnknownFields(names));
      }
    };
    return { ...answer, body: afterFirst(answer.body, setHeader) };
  };
}

/** Wraps the request so that its JSON is passed to `note` once it is read. */
function observed(
  request: UniversalServerRequest,
  readMaxBytes: number,
  note: (text: string) => void,
): UniversalServerRequest {
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
