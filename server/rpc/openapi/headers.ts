import type { JsonObject } from "@bufbuild/protobuf";

/** Response headers of the gateway and their meaning. docs/clients.md has the same list. */
const headers = {
  "hostplane-request-id": "Name of the call in the gateway's log.",
  "hostplane-backend": "`sandbox` when nothing that was answered is real; absent from a real gateway.",
  "hostplane-snapshot-age": "Milliseconds since the state was read that a read of volumes was answered from.",
  "hostplane-missing":
    "Fields of the answer that are unset because they could not be read, separated by commas.",
  "hostplane-clamped": "Fields of the answer whose figure is beyond int32.",
  "hostplane-radar": "What each score of GetClusterRadar was made of.",
  "hostplane-unknown-fields":
    "JSON fields or parameters of a read that its message does not have, and that were ignored.",
  "hostplane-operation": "Id of the operation that the call has begun, found or changed.",
  "hostplane-idempotent-replay":
    "`true` when the answer was kept from the first call with this `idempotency-key`.",
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
export function answerHeaders({ domain, mutation }: { domain: string; mutation: boolean }): JsonObject {
  return headerRefs([
    "hostplane-request-id",
    "hostplane-backend",
    ...(domain === "volumes" && !mutation ? (["hostplane-snapshot-age"] as const) : []),
    ...(domain === "storage" ? (["hostplane-missing", "hostplane-clamped", "hostplane-radar"] as const) : []),
    ...(mutation
      ? (["hostplane-operation", "hostplane-idempotent-replay"] as const)
      : (["hostplane-unknown-fields"] as const)),
  ]);
}
