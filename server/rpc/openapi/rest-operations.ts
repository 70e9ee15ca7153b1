import type { JsonObject } from "@bufbuild/protobuf";
import { methodPathOf } from "../call/method-rule.ts";
import { isSecret } from "../call/secret-fields.ts";
import { fieldsOfPath } from "../protocols/rest/field-path.ts";
import type { RestRoute } from "../protocols/rest/routes.ts";
import { hasTextForm } from "../protocols/rest/text-value.ts";
import type { CommentOf } from "./contract-comments.ts";
import type { DocumentedMethod } from "./documented-method.ts";
import type { ErrorResponses } from "./error-responses.ts";
import { exampleRequest } from "./example-request.ts";
import { answerHeaders } from "./headers.ts";
import type { Form, MessageForm, MessageSchemas } from "./message-schemas.ts";
import { nameIn } from "./message-schemas.ts";
import { operationOf } from "./operation.ts";
import { headerParameters } from "./parameters.ts";
import { queryParameter } from "./query-parameter.ts";

const restAnswer: Form = { role: "answer", names: "contract" };

/** Returns the messages of a route's body and answer. */
export function restMessages(route: RestRoute, documented: DocumentedMethod): MessageForm[] {
  const { method, body } = route;
  return [
    { message: method.output, form: restAnswer },
    ...(body === undefined ? [] : [{ message: method.input, form: requestForm(documented) }]),
  ];
}

function requestForm({ rule }: DocumentedMethod): Form {
  return { role: rule.mutation ? "change" : "read", names: "contract" };
}

/** Returns the path as OpenAPI writes it: `/v1/{name=shelves/*}` becomes `/v1/{name}`. */
export function restPath({ template }: RestRoute): string {
  return template.text.replace(/\{([^}=]+)=[^}]*\}/g, "{$1}");
}

/** Creates the operation of a route. The caller sets its verb. */
export function restOperation(
  route: RestRoute,
  documented: DocumentedMethod,
  schemas: MessageSchemas,
  commentOf: CommentOf,
  errors: ErrorResponses,
): JsonObject {
  const { method, httpMethod, template, body } = route;
  const inPath = template.variables.flatMap(({ fieldPath }) => {
    const field = fieldsOfPath(method.input, fieldPath)?.at(-1);
    return field === undefined
      ? []
      : [{ ...queryParameter(field, commentOf), name: fieldPath, in: "path", required: true }];
  });
  const names = new Set(template.variables.map(({ fieldPath }) => fieldPath));
  const inQuery = method.input.fields
    .filter((field) => body !== "*" && field !== body && !names.has(field.name))
    .filter((field) => hasTextForm(field) && !isSecret(field))
    .map((field) => queryParameter(field, commentOf));
  const words = httpMethod === "*" ? "any" : httpMethod.toLowerCase();
  return operationOf(documented, commentOf, `${methodPathOf(method).replace("/", ".")}.${words}Rest`, {
    parameters: [...inPath, ...inQuery, ...headerParameters(documented)],
    ...(body === undefined ? {} : { requestBody: bodyOf(route, documented, schemas) }),
    responses: {
      "200": {
        description: "The answer. Fields with their default value are omitted.",
        headers: answerHeaders(documented),
        content: { "application/json": { schema: answerSchema(route, schemas) } },
      },
      ...errors.refsOf(documented, "Rest"),
    },
  });
}

function bodyOf(
  { method, body }: RestRoute,
  documented: DocumentedMethod,
  schemas: MessageSchemas,
): JsonObject {
  const form = requestForm(documented);
  const whole = schemas.refTo(method.input, form);
  return {
    content: {
      "application/json":
        body === "*" || body === undefined
          ? { schema: whole, example: exampleRequest(method, form) }
          : { schema: memberSchema(whole, nameIn(body, form)) },
    },
  };
}

function answerSchema({ method, responseField }: RestRoute, schemas: MessageSchemas): JsonObject {
  const whole = schemas.refTo(method.output, restAnswer);
  return responseField === undefined ? whole : memberSchema(whole, responseField.name);
}

/** Refers to a member of the referenced schema. */
function memberSchema({ $ref }: JsonObject, name: string): JsonObject {
  return { $ref: `${$ref}/properties/${name}` };
}
