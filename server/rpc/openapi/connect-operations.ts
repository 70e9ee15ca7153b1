import type { JsonObject } from "@bufbuild/protobuf";
import { methodPathOf } from "../call/method-rule.ts";
import type { CommentOf } from "./contract-comments.ts";
import type { DocumentedMethod } from "./documented-method.ts";
import { type ErrorResponses, headersTooLarge, unsupportedMediaType } from "./error-responses.ts";
import { exampleRequest } from "./example-request.ts";
import { answerHeaders } from "./headers.ts";
import type { Form, MessageSchemas } from "./message-schemas.ts";
import { operationOf } from "./operation.ts";
import { headerParameters, parameterRef } from "./parameters.ts";

export const connectAnswer: Form = { role: "answer", names: "json" };

/** Returns the form of the method's requests over Connect. */
export function connectRequest({ rule }: DocumentedMethod): Form {
  return { role: rule.mutation ? "change" : "read", names: "json" };
}

/** Returns the operations of a unary RPC's path: POST, and GET if allowed. */
export function unaryPathItem(
  documented: DocumentedMethod,
  schemas: MessageSchemas,
  commentOf: CommentOf,
  errors: ErrorResponses,
): JsonObject {
  const { method, rule } = documented;
  const request = {
    "application/json": {
      schema: schemas.refTo(method.input, connectRequest(documented)),
      example: exampleRequest(method),
    },
  };
  const responses = {
    "200": {
      description: "The answer. Fields with their default value are omitted.",
      headers: answerHeaders(documented),
      content: { "application/json": { schema: schemas.refTo(method.output, connectAnswer) } },
    },
    ...errors.refsOf(documented, "Connect"),
    ...unsupportedMediaType,
  };
  const id = methodPathOf(method).replace("/", ".");
  const post = operationOf(documented, commentOf, id, {
    parameters: headerParameters(documented),
    requestBody: { required: true, content: request },
    responses,
  });
  if (!rule.get) {
    return { post };
  }
  const message = {
    name: "message",
    in: "query",
    required: true,
    description: "The request as JSON.",
    content: request,
  };
  const get = operationOf(documented, commentOf, `${id}.get`, {
    parameters: [
      parameterRef("ConnectVersion"),
      parameterRef("Encoding"),
      message,
      ...headerParameters(documented),
    ],
    responses: { ...responses, ...headersTooLarge },
  });
  return { get, post };
}
