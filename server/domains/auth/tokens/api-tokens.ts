import { randomUUID } from "node:crypto";
import { InfraError, invalidField } from "../../../../adapters/host/infra-error.ts";
import type { CallerRole } from "../../../rpc/access/caller-role.ts";
import { recordChanged } from "../../../store/record-changed.ts";
import type { Store } from "../../../store/store.ts";
import type { ChangeMode, DryRun } from "../../../store/transaction.ts";
import { accessFrom, type KnownMethods } from "../access/account-grants.ts";
import { assertApiTokenName } from "../access/account-rules.ts";
import { authReasons } from "../reasons.ts";
import type { ApiTokenRecord, ApiTokenResult, NewApiToken } from "../store/api-tokens.ts";
import { makeApiToken } from "./api-token-text.ts";
import { hashToken } from "./token-hash.ts";

/** Options of `createApiTokens`. */
export interface ApiTokensOptions {
  readonly store: Pick<Store, "run">;
  /** The services and methods of the contract. */
  readonly known: KnownMethods;
  /** Updates the in-memory authentication state from the store, so that a read after a write sees the change. */
  readonly refresh: () => Promise<void>;
}

/** An API token to create, as requested. */
export interface RequestedApiToken {
  readonly name: string;
  /** Undefined: `grants` decide. */
  readonly role: CallerRole | undefined;
  /** Empty: all services. */
  readonly services: readonly string[];
  /** Empty or absent: `role` and `services` decide. */
  readonly grants?: readonly unknown[];
  /** Undefined: it never expires. */
  readonly lifetimeMs: number | undefined;
  /** Actor that requests it. */
  readonly createdBy: string;
}

/** A new token and its record. */
export interface CreatedApiToken {
  readonly token: string;
  readonly record: ApiTokenRecord;
}

/**
 * API tokens. Only `create` returns a token; the store contains only its hash. A dry run checks everything and changes
 * nothing.
 */
export interface ApiTokens {
  /** Lists the tokens that are not revoked, by name. */
  list(): Promise<readonly ApiTokenRecord[]>;
  /** @throws InfraError INVALID_FIELD, API_TOKEN_EXISTS */
  create(requested: RequestedApiToken, how?: DryRun): Promise<CreatedApiToken>;
  /** @throws InfraError INVALID_FIELD, API_TOKEN_NOT_FOUND, RECORD_CHANGED */
  revoke(name: string, how?: ChangeMode<ApiTokenRecord>): Promise<ApiTokenRecord>;
}

const dayMs = 24 * 60 * 60 * 1000;
const maxLifetimeDays = 3650;

/** @param options `known`: the services and methods that tokens may be limited to */
export function createApiTokens({ store, known, refresh }: ApiTokensOptions): ApiTokens {
  /** Refreshes the authentication state after a change, because the next call must see it. */
  async function settle({ dryRun = false }: DryRun): Promise<void> {
    if (!dryRun) {
      await refresh();
    }
  }

  return {
    list: () => store.run("apiTokens.list", undefined),

    async create(requested, { dryRun = false } = {}) {
      const token = makeApiToken();
      const row = checkedToken(requested, hashToken(token), known);
      const record = apiTokenFrom(await store.run("apiTokens.create", { ...row, dryRun }), requested.name);
      await settle({ dryRun });
      return { token, record };
    },

    async revoke(name, how = {}) {
      assertApiTokenName(name);
      const record = apiTokenFrom(await store.run("apiTokens.revoke", { name, ...how }), name);
      await settle(how);
      return record;
    },
  };
}

/** @throws InfraError INVALID_FIELD */
function checkedToken(requested: RequestedApiToken, hash: Uint8Array, known: KnownMethods): NewApiToken {
  const { name, createdBy, lifetimeMs } = requested;
  assertApiTokenName(name);
  if (lifetimeMs !== undefined && !(lifetimeMs > 0 && lifetimeMs <= maxLifetimeDays * dayMs)) {
    throw invalidField("lifetime", `must be positive and at most ${maxLifetimeDays} days`);
  }
  const access = accessFrom(requested, known);
  const lifetime = lifetimeMs === undefined ? null : Math.ceil(lifetimeMs);
  return { id: randomUUID(), name, hash, ...access, createdBy, lifetimeMs: lifetime };
}

/** @throws InfraError API_TOKEN_NOT_FOUND, API_TOKEN_EXISTS, RECORD_CHANGED */
function apiTokenFrom(result: ApiTokenResult, name: string): ApiTokenRecord {
  if (result.ok) {
    return result.token;
  }
  const resource = `apiTokens/${name}`;
  switch (result.why) {
    case "changed":
      throw recordChanged(resource);
    case "notFound": {
      const message = `API token ${JSON.stringify(name)} not found`;
      throw new InfraError(authReasons.API_TOKEN_NOT_FOUND, message, { resource });
    }
    case "exists": {
      const message = `API token ${name} already exists; revoke it first`;
      throw new InfraError(authReasons.API_TOKEN_EXISTS, message, { resource });
    }
  }
}
