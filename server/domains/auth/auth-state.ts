import { InfraError } from "../../../adapters/host/infra-error.ts";
import type { Seal } from "../../crypto/seal.ts";
import { storeReasons } from "../../store/reasons.ts";
import type { Store } from "../../store/store.ts";
import { type Accounts, createAccounts } from "./accounts.ts";

export interface AuthStateOptions {
  readonly store: Pick<Store, "isShared" | "run" | "subscribe">;
  /** Decrypts the secrets of signing keys. */
  readonly keySeal: Seal;
  /** Name of this host. */
  readonly host: string;
  /** Called once when the store can no longer be read. */
  readonly onFailed: (error: unknown) => void;
  /** How long the last read remains valid while a shared store cannot be read. */
  readonly maxAgeMs?: number;
}

/**
 * The data for authentication, in memory. Lookups throw STORE_UNAVAILABLE if other gateways may have changed the data and it
 * could not be read for ten seconds: a revoked login must not stay valid during an outage.
 */
export interface AuthState extends Accounts {
  /** Whether other gateways may change it. */
  readonly isShared: boolean;
  /**
   * Reads everything that was committed before the call.
   * @throws InfraError STORE_UNAVAILABLE
   */
  refresh(): Promise<void>;
  close(): void;
}

const pollMs = 1000;
const defaultMaxAgeMs = 10_000;

/**
 * Loads everything, and then all changes: this gateway's immediately after a commit, those of other gateways on NOTIFY, or
 * within a second if the notification is lost.
 * @throws InfraError STORE_UNAVAILABLE; Error when the master key does not decrypt a signing key
 */
export async function createAuthState(options: AuthStateOptions): Promise<AuthState> {
  const { store, keySeal, host, onFailed, maxAgeMs = defaultMaxAgeMs } = options;
  const accounts = createAccounts(keySeal, host);
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

  /**
   * Reads changes. A call during a read waits for another one, because the first may have begun before the commit in question.
   */
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

  /** A single-gateway store has no other writers, so the memory is always current. */
  function current(): Accounts {
    if (store.isShared && performance.now() - readAtMs > maxAgeMs) {
      throw new InfraError(
        storeReasons.STORE_UNAVAILABLE,
        "logins cannot be checked: users and revocations could not be read from the database for too long",
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
