import type { JsonObject } from "@bufbuild/protobuf";
import { methodPathOf } from "../call/method-rule.ts";
import { hasTextForm } from "../protocols/rest/text-value.ts";
import { eventStreamMethodOf } from "../protocols/sse/event-stream-methods.ts";
import { connectAnswer, connectRequest } from "./connect-operations.ts";
import type { CommentOf } from "./contract-comments.ts";
import type { DocumentedMethod } from "./documented-method.ts";
import {
  type ErrorResponses,
  headersTooLarge,
  notAcceptable,
  unsupportedMediaType,
} from "./error-responses.ts";
import { exampleRequest } from "./example-request.ts";
import { headerRefs } from "./headers.ts";
import type { MessageSchemas } from "./message-schemas.ts";
import { operationOf } from "./operation.ts";
import { headerParameters, parameterRef } from "./parameters.ts";
import { queryParameter } from "./query-parameter.ts";

const envelopes =
  "With the content type `application/connect+json` the same path speaks Connect's streaming protocol: each message follows a byte of flags and four of its length, and an error is in the last message, with HTTP status 200 (connectrpc.com/docs/protocol). gRPC and gRPC-Web are served there as well.";

/**
 * Returns the operations of a streaming RPC's path. OpenAPI 3.1 cannot describe the messages of a stream, so the schema of each
 * event's message is in `x-hostplane-message`, next to the schema of the content type.
 */
export function streamPathItem(
  documented: DocumentedMethod,
  schemas: MessageSchemas,
  commentOf: CommentOf,
  errors: ErrorResponses,
): JsonObject {
  const { method, rule } = documented;
  const id = methodPathOf(method).replace("/", ".");
  const message = schemas.refTo(method.output, connectAnswer);
  const events = eventStreamMethodOf(method, rule);
  const headers = headerRefs(["hostplane-request-id", "hostplane-backend"]);
  const enveloped = {
    schema: { type: "string", format: "binary" },
    "x-hostplane-message": message,
  };
  const request = schemas.refTo(method.input, connectRequest(documented));
  if (events === undefined) {
    const post = operationOf(documented, commentOf, id, {
      description: `A bidirectional stream. ${envelopes}`,
      parameters: headerParameters(documented),
      requestBody: {
        required: true,
        content: {
          "application/connect+json": {
            schema: { type: "string", format: "binary" },
            "x-hostplane-message": request,
          },
        },
      },
      responses: {
        "200": { description: "The stream.", headers, content: { "application/connect+json": enveloped } },
        ...unsupportedMediaType,
      },
    });
    return { post };
  }
  const resumes = events.resumes
    ? "Each event has its cursor as `id`, and `Last-Event-ID` continues after it."
    : "A client that reconnects starts from the beginning.";
  const format = `Server-sent events if the request accepts \`text/event-stream\`: \`data\` is one message as JSON. The last event is \`end\`, or \`error\` if the stream failed, with Connect's error as \`data\`. An error before the first message has its HTTP status. ${resumes}`;
  const responses = {
    "200": {
      description:
        "The stream. It continues until the RPC ends, the client disconnects or its deadline passes.",
      headers,
      content: { "text/event-stream": { schema: { type: "string" }, "x-hostplane-message": message } },
    },
    ...errors.refsOf(documented, "Connect"),
  };
  const common = [...headerParameters(documented), ...(events.resumes ? [parameterRef("LastEventId")] : [])];
  const body = { schema: request, example: exampleRequest(method) };
  const post = operationOf(documented, commentOf, id, {
    description: `${format}\n\n${envelopes}`,
    parameters: common,
    requestBody: {
      required: true,
      content: { "application/json": body },
    },
    responses: { ...responses, ...unsupportedMediaType },
  });
  if (!events.byGet) {
    return { post };
  }
  const get = operationOf(documented, commentOf, `${id}.get`, {
    description: `${format} This is how a browser's \`EventSource\` connects. Fields of the request are parameters, or the whole request is \`message\` as JSON, with \`encoding=json\`.`,
    parameters: [
      ...method.input.fields.filter(hasTextForm).map((field) => queryParameter(field, commentOf)),
      ...connectParameters(body),
      ...common,
    ],
    responses: {
      ...responses,
      ...notAcceptable,
      ...headersTooLarge,
      "204": { description: "The client has reconnected after the event `end`: the stream is complete." },
    },
  });
  return { get, post };
}

/** Returns the query parameters in Connect's form, which are optional because the fields can be parameters instead. */
function connectParameters(body: JsonObject): JsonObject[] {
  const message = {
    name: "message",
    in: "query",
    description: "The request as JSON, instead of its fields as parameters.",
    content: { "application/json": body },
  };
  return [parameterRef("ConnectVersion"), parameterRef("StreamEncoding"), message];
}
