import type { DescMethod } from "@bufbuild/protobuf";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { methodPathOf } from "../method-rule.ts";
import { fieldOf } from "../rest/field-path.ts";
import { parsePathTemplate } from "../rest/path-template.ts";
import { parseQuery } from "../rest/query.ts";
import {
  assertUrlSize,
  type MessagePlaces,
  type RestMessage,
  readRestRequest,
} from "../rest/read-request.ts";
import { setCursor } from "./cursor-field.ts";

/** What of a request for an event stream becomes its message. */
export interface EventRequest {
  readonly httpMethod: string;
  /** Path and query as they were sent. */
  readonly url: string;
  readonly contentType: string | undefined;
  /** Of the event after which a client that comes back wants to go on. */
  readonly lastEventId: string | undefined;
  readonly readBody: () => Promise<Uint8Array>;
}

/**
 * Makes the message of a request: of a body in JSON; of GET by parameters of the query, each a field as REST has them, or by
 * the one parameter `message` as Connect GET has it, in JSON. `Last-Event-ID` takes the place of where the request says to
 * begin, if its message has a cursor, as a browser repeats its URL when it comes back.
 * @param isStrict refuse what would be ignored, as mutations do
 * @throws InfraError, ConnectError as `readRestRequest` does
 */
export async function readEventRequest(
  method: DescMethod,
  request: EventRequest,
  isStrict: boolean,
): Promise<RestMessage> {
  assertUrlSize(request.url);
  const read = await readRestRequest(...placesOf(method, request), isStrict);
  if (request.lastEventId !== undefined && request.lastEventId !== "") {
    setCursor(method.input, read.message, request.lastEventId);
  }
  return read;
}

/** Where the fields are, and what holds them. */
function placesOf(
  method: DescMethod,
  { httpMethod, url, contentType, readBody }: EventRequest,
): [MessagePlaces, Parameters<typeof readRestRequest>[1]] {
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

/** The JSON that a query in Connect's form holds; undefined when it has no such form. */
function connectMessageOf({ input }: DescMethod, query: string): string | undefined {
  const parameters = new Map(parseQuery(query));
  const message = fieldOf(input, "message") === undefined ? parameters.get("message") : undefined;
  const isPlain =
    parameters.get("encoding") === "json" &&
    parameters.get("base64") !== "1" &&
    !parameters.has("compression");
  if (message !== undefined && !isPlain) {
    const words = "the query parameter message is taken with encoding=json, without base64 and compression";
    throw new InfraError("MALFORMED_REQUEST", words);
  }
  return message;
}
