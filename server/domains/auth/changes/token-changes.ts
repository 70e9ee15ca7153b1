import type {
  CreateApiTokenRequest,
  RevokeApiTokenRequest,
  RotateSigningKeyRequest,
} from "../../../../gen/hostplane/v1/user_pb.ts";
import { lifetimeText } from "../../../domain/lifetime-text.ts";
import type { StoredChange } from "../../../domain/stored-change.ts";
import { factsOf } from "../../../operations/plan-facts.ts";
import type { ApiTokenRecord } from "../store/api-tokens.ts";
import type { ApiTokens, CreatedApiToken, RequestedApiToken } from "../tokens/api-tokens.ts";
import { newApiTokenFrom } from "../user-messages.ts";
import { describeRole } from "./describe-role.ts";

/** apiTokens.create: creates a token, which only the response contains. */
export function createCreateApiToken(
  apiTokens: ApiTokens,
): StoredChange<CreateApiTokenRequest, RequestedApiToken, CreatedApiToken> {
  return {
    kind: "apiTokens.create",
    resourceOf: apiTokenResource,
    parse: newApiTokenFrom,
    apply: apiTokens.create,
    describe({ name, lifetimeMs }, { record }) {
      const lifetime = lifetimeMs === undefined ? "without expiry" : `valid for ${lifetimeText(lifetimeMs)}`;
      return { changes: [`API token ${name} is created, ${lifetime}: ${describeRole(record)}`] };
    },
  };
}

/** apiTokens.revoke: ends a token. */
export function createRevokeApiToken(
  apiTokens: ApiTokens,
): StoredChange<RevokeApiTokenRequest, string, ApiTokenRecord> {
  return {
    kind: "apiTokens.revoke",
    resourceOf: apiTokenResource,
    parse: ({ name }) => name,
    apply: apiTokens.revoke,
    describe: (name, { id }) => ({
      changes: [`API token ${name} is revoked`],
      facts: factsOf(apiTokenResource({ name }), { id }),
      losses: ["the token itself: a later token of the same name is a different one"],
    }),
  };
}

/**
 * signingKeys.rotate: replaces the key that signs sessions.
 * @param rotate returns the ID of the new key
 */
export function createRotateSigningKey(
  rotate: () => Promise<string>,
): StoredChange<RotateSigningKeyRequest, null, string> {
  return {
    kind: "signingKeys.rotate",
    resourceOf: () => "signingKeys",
    parse: () => null,
    apply: async (_spec, { dryRun = false }) => (dryRun ? "" : rotate()),
    describe: () => ({
      changes: ["new sessions are signed with a new key; existing sessions stay valid until they expire"],
    }),
  };
}

/** Returns the resource of a token for the log, the audit log and plans. Overlong invalid names are truncated. */
function apiTokenResource({ name }: { readonly name: string }): string {
  return `apiTokens/${name.slice(0, 63)}`;
}
