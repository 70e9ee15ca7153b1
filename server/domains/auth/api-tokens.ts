import { randomUUID } from "node:crypto";
import { InfraError, invalidField } from "../../../adapters/host/infra-error.ts";
import type { CallerRole } from "../../rpc/call/caller.ts";
import type { ApiTokenRecord, ApiTokenResult, NewApiToken } from "../../store/api-tokens.ts";
import type { Store } from "../../store/store.ts";
import { assertApiTokenName, serviceLimitFrom } from "./account-rules.ts";
import { makeApiToken } from "./api-token-text.ts";
import { hashToken } from "./token-hash.ts";

/** Options of `createApiTokens`. */
export interface ApiTokensOptions {
  readonly store: Pick<Store, "run">;
  /** Full names of the services of the contract. */
  readonly serviceNames: readonly string[];
  /** Updates the in-memory authentication state from the store, so that a read after a write sees the change. */
  readonly refresh: () => Promise<void>;
}

/** An API token to create, as requested. */
export interface WantedApiToken {
  readonly name: string;
  readonly role: CallerRole;
  /** Empty: all services. */
  readonly services: readonly string[];
  /** Undefined: it never expires. */
  readonly lifetimeMs: number | undefined;
  /** Actor that requests it. */
  readonly createdBy: string;
}

/** API tokens. Only `create` returns a token; the store contains only its hash. */
export interface ApiTokens {
  /** Lists the tokens that are not revoked, by name. */
  list(): Promise<readonly ApiTokenRecord[]>;
  /** @throws InfraError INVALID_FIELD, API_TOKEN_EXISTS */
  create(wanted: WantedApiToken): Promise<{ readonly token: string; readonly record: ApiTokenRecord }>;
  /** @throws InfraError INVALID_FIELD, API_TOKEN_NOT_FOUND */
  revoke(name: string): Promise<void>;
  /** Dry runs: each runs the checks of the method of the same name, and changes nothing. */
  readonly plan: {
    create(wanted: WantedApiToken): Promise<ApiTokenRecord>;
    revoke(name: string): Promise<ApiTokenRecord>;
  };
}

const dayMs = 24 * 60 * 60 * 1000;
const maxLifetimeDays = 3650;

export function createApiTokens({ store, serviceNames, refresh }: ApiTokensOptions): ApiTokens {
  return {
    list: () => store.run("apiTokens.list", undefined),

    async create(wanted) {
      const token = makeApiToken();
      const row = newApiTokenFrom(wanted, hashToken(token), serviceNames);
      const record = apiTokenFrom(await store.run("apiTokens.create", row), wanted.name);
      await refresh();
      return { token, record };
    },

    async revoke(name) {
      assertApiTokenName(name);
      apiTokenFrom(await store.run("apiTokens.revoke", { name }), name);
      await refresh();
    },

    plan: {
      async create(wanted) {
        const row = newApiTokenFrom(wanted, new Uint8Array(), serviceNames);
        return apiTokenFrom(await store.run("apiTokens.create", { ...row, dryRun: true }), wanted.name);
      },
      async revoke(name) {
        assertApiTokenName(name);
        return apiTokenFrom(await store.run("apiTokens.revoke", { name, dryRun: true }), name);
      },
    },
  };
}

/** @throws InfraError INVALID_FIELD */
function newApiTokenFrom(
  { name, role, services, createdBy, lifetimeMs }: WantedApiToken,
  hash: Uint8Array,
  serviceNames: readonly string[],
): NewApiToken {
  assertApiTokenName(name);
  if (lifetimeMs !== undefined && !(lifetimeMs > 0 && lifetimeMs <= maxLifetimeDays * dayMs)) {
    throw invalidField("lifetime", `must be positive and at most ${maxLifetimeDays} days`);
  }
  const limit = serviceLimitFrom(services, serviceNames);
  const lifetime = lifetimeMs === undefined ? null : Math.ceil(lifetimeMs);
  return { id: randomUUID(), name, hash, role, services: limit, createdBy, lifetimeMs: lifetime };
}

/** @throws InfraError API_TOKEN_NOT_FOUND, API_TOKEN_EXISTS */
function apiTokenFrom(result: ApiTokenResult, name: string): ApiTokenRecord {
  if (result.ok) {
    return result.token;
  }
  const resource = `apiTokens/${name}`;
  throw result.why === "notFound"
    ? new InfraError("API_TOKEN_NOT_FOUND", `API token ${JSON.stringify(name)} not found`, { resource })
    : new InfraError("API_TOKEN_EXISTS", `API token ${name} already exists; revoke it first`, {
        resource,
      });
}
