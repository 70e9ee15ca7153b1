import {
  type DescField,
  type DescMessage,
  type JsonObject,
  type JsonValue,
  ScalarType,
} from "@bufbuild/protobuf";
import { services } from "../../../client/services.ts";
import type { DocumentedMethod } from "../../rpc/openapi/documented-method.ts";
import { exampleRequest } from "../../rpc/openapi/example-request.ts";

/** Property names of the services in a client of `hostplane/client`, by service type. */
const clientNames: ReadonlyMap<string, string> = new Map(
  Object.entries(services).map(([name, { typeName }]) => [typeName, name]),
);

/**
 * Returns a call of the method through the `hostplane/client` client `hostplane`; undefined if the client does not have its
 * service.
 */
export function typescriptExample({ method }: DocumentedMethod): string | undefined {
  const client = clientNames.get(method.parent.typeName);
  if (client === undefined) {
    return undefined;
  }
  const call = `hostplane.${client}.${method.localName}(${messageText(method.input, exampleRequest(method))})`;
  return method.methodKind === "unary"
    ? `const answer = await ${call};`
    : `for await (const message of ${call}) {\n  console.log(message);\n}`;
}

/** Returns the initializer of a message that has this JSON. */
function messageText(desc: DescMessage, json: JsonObject): string {
  const members = desc.fields.flatMap((field) => {
    const value = json[field.jsonName];
    if (value === undefined) {
      return [];
    }
    const text = valueText(field, value);
    return field.oneof === undefined || field.proto.proto3Optional
      ? `${field.localName}: ${text}`
      : `${field.oneof.localName}: { case: "${field.localName}", value: ${text} }`;
  });
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}

function valueText(field: DescField, value: JsonValue): string {
  return Array.isArray(value)
    ? `[${value.map((one) => singleText(field, one)).join(", ")}]`
    : singleText(field, value);
}

const bigIntegers: ReadonlySet<ScalarType | undefined> = new Set([ScalarType.INT64, ScalarType.UINT64]);

function singleText({ message, enum: values, scalar }: DescField, value: JsonValue): string {
  if (message?.typeName === "google.protobuf.Duration") {
    return `{ seconds: ${String(value).replace("s", "n")} }`;
  }
  if (message !== undefined && !message.typeName.startsWith("google.protobuf.")) {
    return messageText(message, value as JsonObject);
  }
  if (values !== undefined) {
    return `${values.values.find(({ name }) => name === value)?.number} /* ${value} */`;
  }
  return bigIntegers.has(scalar) ? `${value}n` : JSON.stringify(value);
}
