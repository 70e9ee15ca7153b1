import {
  create,
  type DescField,
  type DescMessage,
  fromJsonString,
  type JsonValue,
  type Message,
  mergeFromJson,
} from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import { Code, ConnectError } from "@connectrpc/connect";
import { InfraError, invalidField } from "../../../adapters/host/infra-error.ts";
import { unknownFieldsOf } from "../unknown-fields.ts";
import { pathOfFields } from "./field-path.ts";
import { parseQuery } from "./query.ts";
import { requestValuesFrom } from "./request-values.ts";
import type { RestRoute } from "./rest-routes.ts";

/** The longest path with its query, in bytes. Node refuses headers beyond 16 KiB by itself. */
export const maxUrlBytes = 8192;

/** What of a REST request becomes its message. */
export interface RestRequest {
  /** Path and query as they were sent. */
  readonly url: string;
  /** Of the path's template, by their field paths. */
  readonly variables: ReadonlyMap<string, string>;
  readonly contentType: string | undefined;
  /** Reads all of the body, decompressed. @throws ConnectError, InfraError */
  readonly readBody: () => Promise<Uint8Array>;
}

/** The message of a request, and the names in it that nothing is called and that were ignored. */
export interface RestMessage {
  readonly message: Message;
  readonly unknownFields: readonly string[];
}

/** What of a route says where the fields of its message are. */
export type MessagePlaces = Pick<RestRoute, "method" | "template" | "body">;

/**
 * Makes the message of a request from its body, path and query.
 * @param isStrict refuse what would be ignored, as mutations do
 * @throws InfraError MALFORMED_REQUEST, INVALID_FIELD, UNKNOWN_FIELD, MESSAGE_TOO_LARGE; ConnectError for JSON that is not of
 *   the message, which `infraErrorFrom` reads
 */
export async function readRestRequest(
  route: MessagePlaces,
  request: RestRequest,
  isStrict: boolean,
): Promise<RestMessage> {
  assertUrlSize(request.url);
  const desc = route.method.input;
  const [, queryText = ""] = /\?(.*)$/s.exec(request.url) ?? [];
  const values = requestValuesFrom(route, request.variables, parseQuery(queryText));
  if (isStrict && values.unknownKeys.length > 0) {
    throw unknownParameters(values.unknownKeys);
  }
  const text = await bodyText(route, request, isStrict);
  const options = { ignoreUnknownFields: !isStrict };
  const message = withReason(() => (text === "" ? create(desc) : fromJsonString(desc, text, options)));
  const before = values.pathFields.map((fields) => valueAt(desc, message, fields));
  withReason(() => mergeFromJson(desc, message, values.json, options));
  for (const [index, fields] of values.pathFields.entries()) {
    const ofBody = before[index];
    if (ofBody !== undefined && String(ofBody) !== String(valueAt(desc, message, fields))) {
      throw invalidField(pathOfFields(fields), "is another in the body than in the path");
    }
  }
  const ofBody = text === "" ? [] : unknownFieldsOf(desc, JSON.parse(text) as JsonValue);
  const ofQuery = unknownFieldsOf(desc, values.json);
  return { message, unknownFields: [...new Set([...values.unknownKeys, ...ofQuery, ...ofBody])] };
}

/** @throws InfraError MESSAGE_TOO_LARGE */
export function assertUrlSize(url: string): void {
  const urlBytes = Buffer.byteLength(url);
  if (urlBytes > maxUrlBytes) {
    const message = `the URL has ${urlBytes} bytes, more than the limit of ${maxUrlBytes}`;
    throw new InfraError("MESSAGE_TOO_LARGE", message);
  }
}

function unknownParameters(keys: readonly string[]): InfraError {
  const description = "the route has no such parameter";
  return new InfraError("UNKNOWN_FIELD", `${keys.join(", ")}: ${description}`, {
    violations: keys.map((field) => ({ field, description })),
  });
}

/** Types of bodies that are no JSON. Any other is read as JSON, since `curl -d` sends another and always could. */
const otherTypes = /^(?:multipart\/|application\/(?:proto|octet-stream)|image\/|audio\/|video\/)/i;

/** The message's JSON as far as it is the body; empty where there is none. */
async function bodyText(
  { body, method }: MessagePlaces,
  { contentType = "", readBody }: RestRequest,
  isStrict: boolean,
): Promise<string> {
  if (body === undefined && !isStrict) {
    return "";
  }
  const bytes = await readBody();
  if (bytes.byteLength === 0) {
    return "";
  }
  if (body === undefined) {
    throw new InfraError(
      "MALFORMED_REQUEST",
      "this route takes no body; its fields are in the path and the query",
    );
  }
  if (otherTypes.test(contentType)) {
    throw new InfraError("MALFORMED_REQUEST", `the body must be application/json, is ${contentType}`);
  }
  const text = utf8From(bytes);
  if (body === "*") {
    return text;
  }
  // What is a JSON value by itself cannot reach beyond the field that it is put into.
  withReason(() => assertJson(method.input, text));
  return `{${JSON.stringify(body.name)}:${text}}`;
}

function assertJson({ typeName }: DescMessage, text: string): void {
  try {
    JSON.parse(text);
  } catch (error) {
    throw new Error(`cannot decode message ${typeName} from JSON: ${(error as Error).message}`);
  }
}

function utf8From(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new InfraError("MALFORMED_REQUEST", "the body is not UTF-8", { cause });
  }
}

/** What protobuf-es says of JSON becomes the error that connect-es makes of it, so that its reason is found alike. */
function withReason<T>(decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    throw ConnectError.from(error, Code.InvalidArgument);
  }
}

/** The value of a field that is set, at any depth. */
function valueAt(desc: DescMessage, message: Message, fields: readonly DescField[]): unknown {
  let at = reflect(desc, message);
  for (const [index, field] of fields.entries()) {
    if (!at.isSet(field)) {
      return undefined;
    }
    if (index === fields.length - 1) {
      return field.fieldKind === "scalar" || field.fieldKind === "enum" ? at.get(field) : undefined;
    }
    if (field.fieldKind === "message") {
      at = at.get(field);
    }
  }
  return undefined;
}
