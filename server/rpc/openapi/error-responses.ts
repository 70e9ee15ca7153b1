import type { DescMessage, JsonObject } from "@bufbuild/protobuf";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  PreconditionFailureSchema,
  RetryInfoSchema,
} from "../../../gen/google/rpc/error_details_pb.ts";
import type { DocumentedMethod } from "./documented-method.ts";
import type { ErrorRow, ErrorTable } from "./error-table.ts";
import { headerRefs } from "./headers.ts";
import type { Form, MessageForm, MessageSchemas } from "./message-schemas.ts";
import { refToSchema } from "./message-schemas.ts";

/** Format of errors: Connect's, or that of REST, which is grpc-gateway's. */
export type ErrorStyle = "Connect" | "Rest";

const details: readonly DescMessage[] = [
  ErrorInfoSchema,
  BadRequestSchema,
  PreconditionFailureSchema,
  RetryInfoSchema,
];

const formOf = (style: ErrorStyle): Form => ({
  role: "answer",
  names: style === "Connect" ? "json" : "contract",
});

/** Messages contained in errors. */
export const errorMessages: readonly MessageForm[] = (["Connect", "Rest"] as const).flatMap((style) =>
  details.map((message) => ({ message, form: formOf(style) })),
);

/**
 * For Connect operations: the body is a line of text. It has no schema, because generators would add a `string` to each error
 * type.
 */
export const unsupportedMediaType: JsonObject = {
  "415": { $ref: "#/components/responses/UnsupportedMediaType" },
};

/** The same for GET of a stream. */
export const notAcceptable: JsonObject = { "406": { $ref: "#/components/responses/NotAcceptable" } };

/** For GET, whose request is in the URL: a listener counts the URL as a header, and its refusal has no body. */
export const headersTooLarge: JsonObject = { "431": { $ref: "#/components/responses/HeadersTooLarge" } };

/** Responses without a reason. */
const bareResponses: JsonObject = {
  UnsupportedMediaType: bareResponse("The RPC does not support the content type."),
  NotAcceptable: bareResponse("The request does not name `text/event-stream` in its header `accept`."),
  HeadersTooLarge: {
    description:
      "The URL and the headers are larger than the gateway allows (`limits.headerBytes`). Use POST.",
  },
};

function bareResponse(description: string): JsonObject {
  return { description: `${description} The body is a line of text.` };
}

/** Error responses of operations. Each distinct response is one component, shared by all operations that have it. */
export interface ErrorResponses {
  /** Returns the error responses of the method by HTTP status, as references to the components. */
  refsOf(documented: DocumentedMethod, style: ErrorStyle): JsonObject;
  /** Under `#/components/responses`: the responses referenced so far, and the bare ones. */
  readonly components: JsonObject;
}

/** @param errors those that the responses list, in the same order */
export function createErrorResponses(errors: ErrorTable): ErrorResponses {
  const components: Record<string, JsonObject> = { ...(bareResponses as Record<string, JsonObject>) };
  /** Names by the errors of a response. */
  const names = new Map<string, string>();

  function refTo(style: ErrorStyle, status: number, rows: readonly ErrorRow[]): JsonObject {
    const key = `${style}${status} ${rows.map(({ reason }) => reason).join(" ")}`;
    const name = names.get(key) ?? freeName(`${style}${status}`);
    names.set(key, name);
    components[name] ??= errorResponse(style, rows);
    return { $ref: `#/components/responses/${name}` };
  }

  function freeName(base: string): string {
    for (let count = 1; ; count++) {
      const name = count === 1 ? base : `${base}.${count}`;
      if (components[name] === undefined) {
        return name;
      }
    }
  }

  return {
    components,
    refsOf(documented, style) {
      const rows = [...errors.ofEveryCall, ...errors.ownOf(documented)];
      const byStatus = [...Map.groupBy(rows, (row) => statusOf(row, style))].toSorted(([a], [b]) => a - b);
      return Object.fromEntries(
        byStatus.map(([status, ofStatus]) => [String(status), refTo(style, status, ofStatus)]),
      );
    },
  };
}

function statusOf({ connectStatus, restStatus }: ErrorRow, style: ErrorStyle): number {
  return style === "Connect" ? connectStatus : restStatus;
}

function errorResponse(style: ErrorStyle, rows: readonly ErrorRow[]): JsonObject {
  const lines = rows.map(({ reason, meaning }) => `- \`${reason}\`: ${meaning}`);
  return {
    description: `${[...new Set(rows.map(({ code }) => code))].join(" or ")}, by reason:\n\n${lines.join("\n")}`,
    headers: headerRefs(["hostplane-request-id"]),
    // One schema for all of them, because generators create a type for each distinct one.
    content: { "application/json": { schema: refToSchema(`${style}Error`) } },
  };
}

/** Returns the schemas of the errors themselves, for `#/components/schemas`. */
export function errorSchemas({ rows }: ErrorTable, schemas: MessageSchemas): JsonObject {
  const connectDetails = details.map((message) => ({
    type: "object",
    properties: {
      type: { const: message.typeName },
      value: { type: "string", contentEncoding: "base64", description: "In binary, without padding." },
      debug: detailSchema(message, "Connect", schemas),
    },
    required: ["type", "value"],
  }));
  const restDetails = details.map((message) => ({
    type: "object",
    properties: { "@type": { const: `type.googleapis.com/${message.typeName}` } },
    required: ["@type"],
    allOf: [detailSchema(message, "Rest", schemas)],
  }));
  const detailsOf = (forms: JsonObject[]): JsonObject => ({
    type: "array",
    description: "The first is google.rpc.ErrorInfo, with the reason.",
    items: { anyOf: forms },
  });
  return {
    ConnectError: {
      type: "object",
      description: "An error as Connect writes it (connectrpc.com/docs/protocol).",
      properties: {
        code: { type: "string", enum: [...new Set(rows.map(({ connectCode }) => connectCode))] },
        message: { type: "string", description: "A sentence for people." },
        details: detailsOf(connectDetails),
      },
      required: ["code"],
    },
    RestError: {
      type: "object",
      description: "An error of a REST route, as grpc-gateway writes it.",
      properties: {
        error: { type: "string", description: "The same as `message`." },
        message: { type: "string", description: "A sentence for people." },
        code: { type: "integer", format: "int32", description: "Number of gRPC's code." },
        details: detailsOf(restDetails),
      },
      required: ["error", "message", "code", "details"],
    },
    Reason: {
      type: "string",
      description: "Every `google.rpc.ErrorInfo.reason` of this gateway.",
      enum: rows.map(({ reason }) => reason),
    },
  };
}

/** Returns the schema of a detail as in the contract, with the reasons restricted to the existing ones. */
function detailSchema(message: DescMessage, style: ErrorStyle, schemas: MessageSchemas): JsonObject {
  const schema = schemas.refTo(message, formOf(style));
  const reason = { type: "object", properties: { reason: refToSchema("Reason") }, required: ["reason"] };
  return message === ErrorInfoSchema ? { allOf: [schema, reason] } : schema;
}
