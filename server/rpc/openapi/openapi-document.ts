import type { DescMethod, DescService, JsonObject } from "@bufbuild/protobuf";
import { methodPathOf } from "../call/method-rule.ts";
import type { RestRoute } from "../protocols/rest/routes.ts";
import { connectAnswer, connectRequest, unaryPathItem } from "./connect-operations.ts";
import type { CommentOf } from "./contract-comments.ts";
import type { DocumentedMethod } from "./documented-method.ts";
import { createErrorResponses, errorMessages, errorSchemas } from "./error-responses.ts";
import type { ErrorTable } from "./error-table.ts";
import { headerComponents } from "./headers.ts";
import { createMessageSchemas } from "./message-schemas.ts";
import { parameterComponents } from "./parameters.ts";
import { restMessages, restOperation, restPath } from "./rest-operations.ts";
import { streamPathItem } from "./stream-operations.ts";

/** Input of the documents. */
export interface DocumentedContract {
  readonly methods: readonly DocumentedMethod[];
  readonly restRoutes: readonly RestRoute[];
  readonly commentOf: CommentOf;
  readonly errors: ErrorTable;
  /** Reports whether PlanService can plan a change by the method. */
  readonly isPlannable: (method: DescMethod) => boolean;
  /** Version of the gateway. */
  readonly version: string;
  /** The largest message read or written, in bytes. */
  readonly maxMessageBytes: number;
  readonly maxDeadlineMs: number;
}

/**
 * Creates the contract as an OpenAPI 3.1 document: every RPC as Connect has it in JSON, its streams, and the REST routes. It
 * yields between steps, so that other work can run.
 */
export function* openApiDocument(contract: DocumentedContract): Generator<void, JsonObject> {
  const { methods, restRoutes, commentOf, version } = contract;
  const documentedOf = new Map(methods.map((one) => [one.method, one]));
  const routes = restRoutes.flatMap((route) => {
    const documented = documentedOf.get(route.method);
    return documented === undefined ? [] : [{ route, documented }];
  });
  const schemas = createMessageSchemas(
    [
      ...methods.flatMap((one) => [
        { message: one.method.input, form: connectRequest(one) },
        { message: one.method.output, form: connectAnswer },
      ]),
      ...routes.flatMap(({ route, documented }) => restMessages(route, documented)),
      ...errorMessages,
    ],
    commentOf,
  );
  yield;
  const errors = createErrorResponses(contract.errors);
  const paths: Record<string, JsonObject> = {};
  for (const { route, documented } of routes) {
    const operation = restOperation(route, documented, schemas, commentOf, errors);
    const verb = route.httpMethod === "*" ? "post" : route.httpMethod.toLowerCase();
    paths[restPath(route)] = { ...paths[restPath(route)], [verb]: operation };
    yield;
  }
  for (const one of methods) {
    const itemOf = one.method.methodKind === "unary" ? unaryPathItem : streamPathItem;
    paths[`/${methodPathOf(one.method)}`] = itemOf(one, schemas, commentOf, errors);
    yield;
  }
  const services = new Set(methods.map(({ method }) => method.parent));
  return {
    openapi: "3.1.1",
    info: {
      title: "hostplane",
      version,
      summary: "One gateway to the machines you own",
      description: introduction(contract),
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    security: [{ bearer: [] }, { cookie: [] }, { cookieOverTls: [] }],
    tags: [...services].map((service) => tagOf(service, commentOf)),
    paths,
    components: {
      schemas: { ...schemas.components, ...errorSchemas(contract.errors, schemas) },
      responses: errors.components,
      parameters: parameterComponents(contract.maxDeadlineMs),
      headers: headerComponents,
      securitySchemes,
    },
  };
}

/** The names are those of server/domains/auth/sessions/session-cookie.ts. */
const securitySchemes: JsonObject = {
  bearer: {
    type: "http",
    scheme: "bearer",
    description: "The token of a login (`services.auth.AuthService/Login`) or an API token.",
  },
  cookie: {
    type: "apiKey",
    in: "cookie",
    name: "hostplane_session",
    description:
      "The session of a login with the header `hostplane-session: cookie`, for pages of the same origin.",
  },
  cookieOverTls: {
    type: "apiKey",
    in: "cookie",
    name: "__Host-hostplane_session",
    description: "The same over TLS.",
  },
};

function tagOf(service: DescService, commentOf: CommentOf): JsonObject {
  return { name: service.typeName, description: commentOf(service) };
}

function introduction({ maxMessageBytes }: DocumentedContract): string {
  return [
    "Every RPC is a POST of JSON to `/<package>.<Service>/<Method>`, by Connect's protocol; the same paths answer gRPC and gRPC-Web, also below `/api`. RPCs without side effects also support GET, unless they return secrets. `/docs` is the same for people, with examples.",
    "Field names may be written as here or as in the proto files; `null` means absent. 64-bit integers are strings in answers, and strings or numbers in requests; an enum value may also be its number. Answers omit fields with their default value. A change refuses unknown fields; a read ignores them.",
    `A message has at most ${maxMessageBytes} bytes after decompression. An unknown request header \`hostplane-*\` is refused.`,
  ].join("\n\n");
}
