import type { JsonObject } from "@bufbuild/protobuf";
import type { DocumentedMethod } from "./documented-method.ts";

/** Response headers of the gateway and their meaning. docs/reference/protocols.md has the same list. */
const headers = {
  "hostplane-request-id": "Id of the call in the gateway's log.",
  "hostplane-backend": "`sandbox` if nothing in the answer is real; absent from a real gateway.",
  "hostplane-snapshot-age":
    "For reads of volumes: age of the state that the answer was read from, in milliseconds.",
  "hostplane-missing":
    "Fields of the answer that are unset because they could not be read, separated by commas.",
  "hostplane-clamped": "Fields of the answer whose value exceeds int32.",
  "hostplane-radar": "The inputs of each score of GetClusterRadar.",
  "hostplane-unknown-fields": "Unknown JSON fields or parameters of a read, which were ignored.",
  "hostplane-operation": "Id of the operation that the call started, found or changed.",
  "hostplane-end-session-url":
    "For a Logout with a session cookie: the page at which the browser also ends its session at the identity provider.",
  "hostplane-idempotent-replay":
    "`true` if this is the stored answer of the first call with this `idempotency-key`.",
} as const;

export type HeaderName = keyof typeof headers;

/** Under `#/components/headers`. */
export const headerComponents: JsonObject = Object.fromEntries(
  Object.entries(headers).map(([name, description]) => [name, { description, schema: { type: "string" } }]),
);

/** Returns headers of an answer as references to the components. */
export function headerRefs(names: readonly HeaderName[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** Returns the headers that a successful answer may have. */
export function answerHeaders({
  method,
  rule: { domain, mutation },
}: Pick<DocumentedMethod, "method" | "rule">): JsonObject {
  return headerRefs([
    "hostplane-request-id",
    "hostplane-backend",
    ...(domain === "volumes" && !mutation ? (["hostplane-snapshot-age"] as const) : []),
    ...(domain === "auth" && method.name === "Logout" ? (["hostplane-end-session-url"] as const) : []),
    ...(domain === "storage" ? (["hostplane-missing", "hostplane-clamped", "hostplane-radar"] as const) : []),
    ...(mutation
      ? (["hostplane-operation", "hostplane-idempotent-replay"] as const)
      : (["hostplane-unknown-fields"] as const)),
  ]);
}
