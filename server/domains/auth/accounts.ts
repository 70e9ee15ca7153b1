import type { Seal } from "../../crypto/seal.ts";
import { type CallerRole, callerRoles } from "../../rpc/access/caller-role.ts";
import { createGrants, type Grants } from "../../rpc/access/grants.ts";
import type { AuthChanges } from "./store/auth-changes.ts";

/** The common part of users and API tokens. */
interface Account {
  readonly id: string;
  readonly name: string;
  readonly role: CallerRole;
  /** Full names of the services it is limited to; undefined: all. */
  readonly services: ReadonlySet<string> | undefined;
  /** Bounds beyond role and services; undefined if there are none. */
  readonly grants: Grants | undefined;
}

export interface AuthUser extends Account {
  /** PHC string; undefined: the user has no password. */
  readonly passwordHash: string | undefined;
  readonly certificateNames: readonly string[];
  /** Sessions that began before or in this millisecond are over, except `keptSession`. */
  readonly tokensNotBeforeMs: number;
  readonly keptSession: string | undefined;
}

export interface AuthApiToken extends Account {
  readonly hash: Uint8Array;
  readonly expiresAtMs: number | undefined;
  readonly isRevoked: boolean;
}

export interface SigningKey {
  readonly id: string;
  readonly secret: Uint8Array;
  /** Infinite for the key that signs. */
  readonly verifyUntilMs: number;
}

/** Lookup of accounts and keys by everything that a call may present. */
export interface Accounts {
  userById(id: string): AuthUser | undefined;
  userByName(name: string): AuthUser | undefined;
  userByCertificateName(name: string): AuthUser | undefined;
  /** Also finds revoked and expired tokens. @param hash result of `hashToken` */
  apiTokenByHash(hash: Uint8Array): AuthApiToken | undefined;
  isRevoked(sessionId: string): boolean;
  /** Returns a key that currently verifies. */
  signingKey(id: string): SigningKey | undefined;
}

/** Much longer than clocks can differ, so that a revoked session does not become valid again shortly before it expires. */
const revocationKeptMs = 60 * 60 * 1000;
const sweepEveryMs = 60 * 1000;

/**
 * @param keySeal decrypts the secrets of signing keys
 * @param host name of this host, which grants may name
 */
export function createAccounts(
  keySeal: Seal,
  host: string,
): Accounts & { apply(changes: AuthChanges): void } {
  const usersById = new Map<string, AuthUser>();
  const usersByName = new Map<string, AuthUser>();
  const usersByCertificateName = new Map<string, AuthUser>();
  const apiTokens = new Map<string, AuthApiToken>();
  const signingKeys = new Map<string, SigningKey>();
  const revocations = new Map<string, number>();
  let sweptAtMs = 0;

  function forget(id: string): void {
    const user = usersById.get(id);
    if (user !== undefined) {
      usersById.delete(id);
      usersByName.delete(user.name);
      for (const name of user.certificateNames) {
        usersByCertificateName.delete(name);
      }
    }
  }

  function add(user: AuthUser): void {
    usersById.set(user.id, user);
    usersByName.set(user.name, user);
    for (const name of user.certificateNames) {
      usersByCertificateName.set(name, user);
    }
  }

  function sweep(): void {
    const nowMs = Date.now();
    if (nowMs - sweptAtMs < sweepEveryMs) {
      return;
    }
    sweptAtMs = nowMs;
    for (const [sessionId, expiresAtMs] of revocations) {
      if (expiresAtMs + revocationKeptMs < nowMs) {
        revocations.delete(sessionId);
      }
    }
  }

  return {
    userById: (id) => usersById.get(id),
    userByName: (name) => usersByName.get(name),
    userByCertificateName: (name) => usersByCertificateName.get(name),
    apiTokenByHash: (hash) => apiTokens.get(textOf(hash)),
    isRevoked: (sessionId) => revocations.has(sessionId),
    signingKey(id) {
      const key = signingKeys.get(id);
      return key !== undefined && key.verifyUntilMs < Date.now() ? undefined : key;
    },
    apply({ users, apiTokens: tokens, signingKeys: keys, revocations: revoked }) {
      // Remove all of them first: a name may have moved from one user to another.
      for (const { id } of users) {
        forget(id);
      }
      for (const row of users.filter(({ removed_at }) => removed_at === null)) {
        add({
          ...accountFrom(row, host),
          passwordHash: row.password_hash ?? undefined,
          certificateNames: JSON.parse(row.certificate_names),
          tokensNotBeforeMs: row.tokens_not_before,
          keptSession: row.kept_session ?? undefined,
        });
      }
      for (const row of tokens) {
        apiTokens.set(textOf(row.hash), {
          ...accountFrom(row, host),
          hash: row.hash,
          expiresAtMs: row.expires_at ?? undefined,
          isRevoked: row.revoked_at !== null,
        });
      }
      for (const row of keys) {
        // The signing key has no end yet; a retired key that signed nothing has nothing to verify.
        const verifyUntilMs = row.retired_at === null ? Number.POSITIVE_INFINITY : row.verify_until;
        if (verifyUntilMs === null) {
          signingKeys.delete(row.id);
        } else {
          const secret = keySeal.open(row.secret_sealed, row.id);
          signingKeys.set(row.id, { id: row.id, secret, verifyUntilMs });
        }
      }
      for (const { jti, expires_at } of revoked) {
        revocations.set(jti, expires_at);
      }
      sweep();
    },
  };
}

interface AccountRow {
  readonly id: string;
  readonly name: string;
  readonly role: string;
  readonly services: string | null;
  readonly grants: string | null;
}

function accountFrom(row: AccountRow, host: string): Account {
  const role = callerRoles.find((one) => one === row.role);
  if (role === undefined) {
    throw new Error(`the account ${row.id} has the role ${row.role}, which this version does not support`);
  }
  const services = row.services === null ? undefined : new Set<string>(JSON.parse(row.services));
  const grants = row.grants === null ? undefined : createGrants(JSON.parse(row.grants), host);
  return { id: row.id, name: row.name, role, services, grants };
}

function textOf(hash: Uint8Array): string {
  return Buffer.from(hash.buffer, hash.byteOffset, hash.byteLength).toString("latin1");
}
