import type { DescMessage, JsonObject } from "@bufbuild/protobuf";

/** The messages of google/protobuf/*.proto with a special JSON form that occur in the contract. */
const forms: Readonly<Record<string, JsonObject>> = {
  "google.protobuf.Timestamp": { type: "string", format: "date-time" },
  "google.protobuf.Duration": {
    type: "string",
    pattern: "^-?[0-9]{1,12}(\\.[0-9]{1,9})?s$",
    examples: ["1.5s"],
  },
  "google.protobuf.BoolValue": { type: "boolean" },
  "google.protobuf.Int64Value": { type: "string", pattern: "^-?[0-9]{1,19}$" },
  "google.protobuf.Struct": { type: "object", additionalProperties: true },
  "google.protobuf.Any": {
    type: "object",
    properties: { "@type": { type: "string" } },
    required: ["@type"],
    additionalProperties: true,
  },
};

/**
 * Returns the JSON Schema of a google.protobuf message; undefined for any other message.
 * @throws TypeError for a google.protobuf message that has no row here
 */
export function wellKnownSchema({ typeName }: DescMessage): JsonObject | undefined {
  const form = forms[typeName];
  if (form === undefined && typeName.startsWith("google.protobuf.")) {
    throw new TypeError(`${typeName} has no JSON Schema`);
  }
  return form;
}
