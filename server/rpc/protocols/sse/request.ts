import type { DescMethod } from "@bufbuild/protobuf";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { methodPathOf } from "../../call/method-rule.ts";
import { rpcReasons } from "../../reasons.ts";
import type { HttpMessage } from "../http/http-call.ts";
import { fieldOf } from "../rest/field-path.ts";
import { parsePathTemplate } from "../rest/path-template.ts";
import { parseQuery } from "../rest/query.ts";
import { assertUrlSize, type MessageSources, readRestRequest } from "../rest/request.ts";
import { setCursor } from "./cursor-field.ts";

/** The parts of a request for an event stream that its message is built from. */
export interface EventRequest {
  readonly httpMethod: string;
  /** Path and query as sent. */
  readonly url: string;
  readonly contentType: string | undefined;
  /** Id of the event after which a reconnecting client continues. */
  readonly lastEventId: string | undefined;
  readonly readBody: () => Promise<Uint8Array>;
}

/**
 * Builds the message of a request: from a JSON body, or for GET from query parameters. Each parameter is a field, as in REST, or
 * the only one is `message` with JSON, as in Connect GET. If the message has a cursor, `Last-Event-ID` overrides the start
 * position in the request, because a browser repeats its URL when it reconnects.
 * @param isStrict refuse unknown fields instead of ignoring them, as mutations do
 * @throws InfraError, ConnectError as `readRestRequest` does
 */
export async function readEventRequest(
  method: DescMethod,
  request: EventRequest,
  isStrict: boolean,
): Promise<HttpMessage> {
  assertUrlSize(request.url);
  const read = await readRestRequest(...sourcesOf(method, request), isStrict);
  if (request.lastEventId !== undefined && request.lastEventId !== "") {
    setCursor(method.input, read.message, request.lastEventId);
  }
  return read;
}

/** Returns where the fields are, and the request that contains them. */
function sourcesOf(
  method: DescMethod,
  { httpMethod, url, contentType, readBody }: EventRequest,
): [MessageSources, Parameters<typeof readRestRequest>[1]] {
  const template = parsePathTemplate(`/${methodPathOf(method)}`);
  const variables = new Map<string, string>();
  if (httpMethod !== "GET") {
    return [
      { method, template, body: "*" },
      { url, variables, contentType, readBody },
    ];
  }
  const [path = "", query = ""] = url.split(/\?(.*)/s);
  const message = connectMessageOf(method, query);
  return message === undefined
    ? [
        { method, template, body: undefined },
        { url, variables, contentType, readBody },
      ]
    : [
        { method, template, body: "*" },
        { url: path, variables, contentType: undefined, readBody: async () => Buffer.from(message) },
      ];
}

/** Returns the JSON in a query of Connect's form; undefined if it has another form. */
function connectMessageOf({ input }: DescMethod, query: string): string | undefined {
  const parameters = new Map(parseQuery(query));
  const message = fieldOf(input, "message") === undefined ? parameters.get("message") : undefined;
  const isPlain =
    parameters.get("encoding") === "json" &&
    parameters.get("base64") !== "1" &&
    !parameters.has("compression");
  if (message !== undefined && !isPlain) {
    const words = "the query parameter message needs encoding=json, without base64 and compression";
    throw new InfraError(rpcReasons.MALFORMED_REQUEST, words);
  }
  return message;
}
