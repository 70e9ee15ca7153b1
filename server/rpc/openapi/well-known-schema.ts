import type { DescMessage, JsonObject } from "@bufbuild/protobuf";

/** Messages whose JSON is a form of its own (google/protobuf/*.proto), as far as the contract has them. */
const forms: Readonly<Record<string, JsonObject>> = {
  "google.protobuf.Timestamp": { type: "string", format: "date-time" },
  "google.protobuf.Duration": {
    type: "string",
    pattern: "^-?[0-9]{1,12}(\\.[0-9]{1,9})?s$",
    examples: ["1.5s"],
  },
  "google.protobuf.Struct": { type: "object", additionalProperties: true },
  "google.protobuf.Any": {
    type: "object",
    properties: { "@type": { type: "string" } },
    required: ["@type"],
    additionalProperties: true,
  },
};

/**
 * The JSON Schema of a message of google.protobuf; undefined for any other.
 * @throws TypeError for one of google.protobuf that has no row here
 */
export function wellKnownSchema({ typeName }: DescMessage): JsonObject | undefined {
  const form = forms[typeName];
  if (form === undefined && typeName.startsWith("google.protobuf.")) {
    throw new TypeError(`${typeName} has no JSON Schema`);
  }
  return form;
}
