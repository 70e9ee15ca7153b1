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
import { InfraError, invalidField } from "../../../../adapters/host/infra-error.ts";
import { rpcReasons } from "../../reasons.ts";
import type { HttpMessage } from "../http/http-call.ts";
import { unknownFieldsOf } from "../wire/unknown-fields.ts";
import { pathOfFields } from "./field-path.ts";
import { parseQuery } from "./query.ts";
import { requestValuesFrom } from "./request-values.ts";
import type { RestRoute } from "./routes.ts";

/** Maximum length of a path with its query, in bytes. Node itself refuses headers beyond 16 KiB. */
export const maxUrlBytes = 8192;

/** The parts of a REST request that its message is built from. */
export interface RestRequest {
  /** Path and query as sent. */
  readonly url: string;
  /** Variables of the path's template, by field path. */
  readonly variables: ReadonlyMap<string, string>;
  readonly contentType: string | undefined;
  /** Reads a whole body, decompressed. @throws ConnectError, InfraError */
  readonly readBody: () => Promise<Uint8Array>;
}

/** The parts of a route that say where the fields of its message are. */
export type MessageSources = Pick<RestRoute, "method" | "template" | "body">;

/**
 * Builds the message of a request from its body, path and query.
 * @param isStrict refuse unknown fields instead of ignoring them, as mutations do
 * @throws InfraError MALFORMED_REQUEST, INVALID_FIELD, UNKNOWN_FIELD, MESSAGE_TOO_LARGE; ConnectError, which `infraErrorFrom`
 * converts, for JSON that does not match the message
 */
export async function readRestRequest(
  route: MessageSources,
  request: RestRequest,
  isStrict: boolean,
): Promise<HttpMessage> {
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
      throw invalidField(pathOfFields(fields), "differs between the body and the path");
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
    throw new InfraError(rpcReasons.MESSAGE_TOO_LARGE, message);
  }
}

function unknownParameters(keys: readonly string[]): InfraError {
  const description = "unknown parameter";
  return new InfraError(rpcReasons.UNKNOWN_FIELD, `${keys.join(", ")}: ${description}`, {
    violations: keys.map((field) => ({ field, description })),
  });
}

/** Content types that are not JSON. Any other type is read as JSON, because `curl -d` sends another one by default. */
const otherTypes = /^(?:multipart\/|application\/(?:proto|octet-stream)|image\/|audio\/|video\/)/i;

/** Returns the JSON of the message's part in the body; empty if there is none. */
async function bodyText(
  { body, method }: MessageSources,
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
      rpcReasons.MALFORMED_REQUEST,
      "this route does not accept a body; send its fields in the path and the query",
    );
  }
  if (otherTypes.test(contentType)) {
    throw new InfraError(
      rpcReasons.MALFORMED_REQUEST,
      `the body must be application/json, is ${contentType}`,
    );
  }
  const text = utf8From(bytes);
  if (body === "*") {
    return text;
  }
  // Valid JSON on its own cannot break out of the field that it is inserted into.
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
    throw new InfraError(rpcReasons.MALFORMED_REQUEST, "the body is not UTF-8", { cause });
  }
}

/** Wraps an error of protobuf-es in the same way as connect-es, so that its reason is found in the same way. */
function withReason<T>(decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    throw ConnectError.from(error, Code.InvalidArgument);
  }
}

/** Returns the value of a set field at any depth. */
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
