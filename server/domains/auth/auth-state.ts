import { InfraError } from "../../../adapters/host/infra-error.ts";
import type { Seal } from "../../crypto/seal.ts";
import type { Store } from "../../store/store.ts";
import { type Accounts, createAccounts } from "./accounts.ts";

export interface AuthStateOptions {
  readonly store: Pick<Store, "isShared" | "run" | "subscribe">;
  /** Opens the secrets of signing keys. */
  readonly keySeal: Seal;
  /** Told once when the store cannot be read any more. */
  readonly onFailed: (error: unknown) => void;
  /** How long what was read last decides while a shared store cannot be read. */
  readonly maxAgeMs?: number;
}

/**
 * Everything that decides about calls, kept in memory. Lookups throw STORE_UNAVAILABLE when others may have changed
 * it and that could not be seen for ten seconds: a login that was revoked must not go on for an outage.
 */
export interface AuthState extends Accounts {
  /** More than one gateway may change it. */
  readonly isShared: boolean;
  /**
   * Brings it up to date with what was committed before the call.
   * @throws InfraError STORE_UNAVAILABLE
   */
  refresh(): Promise<void>;
  close(): void;
}

const pollMs = 1000;
const defaultMaxAgeMs = 10_000;

/**
 * Loads everything, and from then on what changes: at once what this gateway has committed, what others have by
 * NOTIFY, or within a second when that is lost.
 * @throws InfraError STORE_UNAVAILABLE; Error when a signing key does not open with the master key
 */
export async function createAuthState(options: AuthStateOptions): Promise<AuthState> {
  const { store, keySeal, onFailed, maxAgeMs = defaultMaxAgeMs } = options;
  const accounts = createAccounts(keySeal);
  let version = 0;
  let readAtMs = 0;
  let isFailing = false;
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  async function load(): Promise<void> {
    const beganAtMs = performance.now();
    const changes = await store.run("auth.changes", { sinceVersion: version });
    accounts.apply(changes);
    version = changes.version;
    readAtMs = beganAtMs;
    isFailing = false;
  }

  /** Who asks while one is under way needs another: that one may have read before the commit in question. */
  function refresh(): Promise<void> {
    if (running === undefined) {
      running = load().finally(() => {
        running = undefined;
      });
      return running;
    }
    next ??= running
      .catch(() => {})
      .then(() => {
        next = undefined;
        return refresh();
      });
    return next;
  }

  function refreshInBackground(): void {
    refresh().catch((error) => {
      if (!isFailing) {
        isFailing = true;
        onFailed(error);
      }
    });
  }

  /** A store of one gateway is changed by nobody else: what is in memory is what it holds. */
  function current(): Accounts {
    if (store.isShared && performance.now() - readAtMs > maxAgeMs) {
      throw new InfraError(
        "STORE_UNAVAILABLE",
        "nobody can be let in: users and revocations could not be read for a while",
        { retryAfterMs: pollMs },
      );
    }
    return accounts;
  }

  await refresh();
  const unsubscribe = store.subscribe("auth", refreshInBackground);
  const timer = store.isShared ? setInterval(refreshInBackground, pollMs).unref() : undefined;
  return {
    isShared: store.isShared,
    userById: (id) => current().userById(id),
    userByName: (name) => current().userByName(name),
    userByCertificateName: (name) => current().userByCertificateName(name),
    apiTokenByHash: (hash) => current().apiTokenByHash(hash),
    isRevoked: (sessionId) => current().isRevoked(sessionId),
    signingKey: (id) => current().signingKey(id),
    refresh,
    close() {
      unsubscribe();
      clearInterval(timer);
    },
  };
}
