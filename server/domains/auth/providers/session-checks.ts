import { setTimeout as wait } from "node:timers/promises";
import { hasReason, InfraError } from "../../../../adapters/host/infra-error.ts";
import { createLimiter } from "../../../../adapters/host/limiter.ts";
import type { Seal } from "../../../crypto/seal.ts";
import type { Store } from "../../../store/store.ts";
import type { AccountAccess } from "../access/account-grants.ts";
import { authReasons } from "../reasons.ts";
import type { SessionCheck } from "../store/provider-sessions.ts";
import { openLogin, sealLogin } from "./kept-login.ts";
import type { Provider } from "./provider.ts";
import type { TokenRevocations } from "./token-revocations.ts";

/** Options of `createSessionChecks`. */
export interface SessionChecksOptions {
  readonly store: Pick<Store, "run">;
  readonly providers: ReadonlyMap<string, Provider>;
  /** Encrypts refresh tokens. */
  readonly seal: Seal;
  /** Updates the in-memory authentication state from the store. */
  readonly refreshState: () => Promise<void>;
  /** How often a session that is in use is checked. */
  readonly checkMs: number;
  readonly revocations: TokenRevocations;
  /** Called with failures of background work. */
  readonly onFailed: (message: string, error: unknown) => void;
}

/**
 * Checks sessions at their providers by their refresh tokens. A session ends when its provider refuses that. It
 * continues while the provider is unreachable.
 */
export interface SessionChecks {
  /** Notes a session that its provider has just confirmed. */
  noteOpened(sessionId: string, provider: string): void;
  /**
   * Notes that a session is used. Returns a promise if it must be checked first, which rejects when the session is over.
   * @throws InfraError TOKEN_REVOKED when the provider is no longer configured
   */
  use(sessionId: string, provider: string): Promise<void> | undefined;
  close(): Promise<void>;
}

/** A session that this gateway has seen lately. Times are monotonic. */
interface Seen {
  readonly provider: string;
  checkedAtMs: number;
  usedAtMs: number;
  checking?: Promise<void> | undefined;
}

const maxSeen = 50_000;
/** A session whose last call or open stream is longer ago is not checked until it is used again. */
const unusedMs = 60_000;
/** Longer than a check takes: four requests to the provider, of five seconds at most. */
const leaseMs = 30_000;
/** How long sessions are accepted unchecked after their provider could not be reached, before the next attempt. */
const maxAwayMs = 5_000;
/** How long, and how often, another gateway's check is awaited. */
const busyTries = 20;
const busyWaitMs = 250;

/**
 * Starts to check the sessions in use every `checkMs`, until it is closed. One that missed its check is checked before its
 * call.
 */
export function createSessionChecks(options: SessionChecksOptions): SessionChecks {
  const { store, providers, seal, refreshState, checkMs, revocations, onFailed } = options;
  const staleMs = checkMs * 1.5;
  const awayMs = Math.min(maxAwayMs, checkMs);
  const seen = new Map<string, Seen>();
  const awayUntilMs = new Map<string, number>();
  const limiters = new Map(
    [...providers.keys()].map((name) => [
      name,
      createLimiter({
        what: `checks of logins at ${name}`,
        queue: "login checks",
        maxRunning: 8,
        maxWaiting: maxSeen,
      }),
    ]),
  );
  const closing = new AbortController();
  let isFailing = false;

  async function claim(jti: string): Promise<SessionCheck> {
    for (let tries = 0; tries < busyTries; tries += 1) {
      const check = await store.run("providerSessions.claim", { jti, freshMs: checkMs * 0.8, leaseMs });
      if (check.state !== "busy") {
        return check;
      }
      await wait(busyWaitMs, undefined, { signal: closing.signal });
    }
    return { state: "busy" };
  }

  /**
   * Checks a session, unless another gateway has.
   * @returns the age of the check
   * @throws InfraError TOKEN_REVOKED, PROVIDER_UNAVAILABLE, STORE_UNAVAILABLE
   */
  async function check(jti: string, provider: Provider): Promise<number> {
    const claimed = await claim(jti);
    switch (claimed.state) {
      case "gone":
        throw ended();
      case "checked":
        return claimed.agoMs;
      case "busy":
        // The other gateway died, or its provider is slow: accepted until the lease ends.
        return staleMs - awayMs;
    }
    let access: AccountAccess;
    try {
      access = await accessAtProvider(jti, provider, claimed);
    } catch (error) {
      if (hasReason(error, authReasons.LOGIN_REFUSED, authReasons.LOGIN_WITHOUT_ROLE)) {
        revocations.beginAll(await store.run("providerSessions.end", { jti }));
        await refreshState();
        throw ended();
      }
      await store.run("providerSessions.release", { jti, access: undefined });
      throw error;
    }
    if (await store.run("providerSessions.release", { jti, access })) {
      await refreshState();
    }
    return 0;
  }

  async function accessAtProvider(
    jti: string,
    provider: Provider,
    { subject, refreshTokenSealed }: Extract<SessionCheck, { state: "due" }>,
  ): Promise<AccountAccess> {
    const login = openLogin(seal, refreshTokenSealed, jti);
    const { refreshToken } = login;
    async function keep(next: string): Promise<void> {
      const refreshTokenSealed = sealLogin(seal, { ...login, refreshToken: next }, jti);
      if (!(await store.run("providerSessions.keepToken", { jti, refreshTokenSealed }))) {
        // The session was ended during the check, with a token that the provider had already replaced.
        revocations.begin(provider.name, next);
        throw ended();
      }
    }
    const user = await provider.use((connection) => connection.refresh({ refreshToken, subject }, keep));
    return provider.accessOf(user.groups);
  }

  /** Checks a session. While its provider is unreachable, it counts as checked for a few seconds. */
  async function settle(jti: string, provider: Provider, entry: Seen): Promise<void> {
    const { name } = provider;
    const untilMs = awayUntilMs.get(name) ?? 0;
    if (performance.now() < untilMs) {
      entry.checkedAtMs = untilMs - staleMs;
      return;
    }
    try {
      const ageMs = await (limiters.get(name)?.run(() => check(jti, provider)) ?? check(jti, provider));
      entry.checkedAtMs = performance.now() - ageMs;
    } catch (error) {
      if (!hasReason(error, authReasons.PROVIDER_UNAVAILABLE)) {
        seen.delete(jti);
        throw error;
      }
      const nextAtMs = performance.now() + awayMs;
      awayUntilMs.set(name, nextAtMs);
      entry.checkedAtMs = nextAtMs - staleMs;
    }
  }

  /** Starts a check, or joins the one that is running. */
  function begin(jti: string, provider: Provider, entry: Seen): Promise<void> {
    entry.checking ??= settle(jti, provider, entry).finally(() => {
      entry.checking = undefined;
    });
    return entry.checking;
  }

  function note(jti: string, provider: string, checkedAtMs: number): Seen {
    const [oldest] = seen.keys();
    if (oldest !== undefined && seen.size >= maxSeen) {
      seen.delete(oldest);
    }
    const entry = { provider, checkedAtMs, usedAtMs: performance.now() };
    seen.set(jti, entry);
    return entry;
  }

  /** Reports the first of consecutive failures. The end of a session is none. */
  function noteFailure(error: unknown): void {
    if (!isFailing && !closing.signal.aborted && !hasReason(error, authReasons.TOKEN_REVOKED)) {
      isFailing = true;
      onFailed("logins by identity providers cannot be checked", error);
    }
  }

  /** Checks the sessions that are in use before their calls would have to wait for it. */
  function checkUsed(): void {
    const nowMs = performance.now();
    for (const [jti, entry] of seen) {
      const provider = providers.get(entry.provider);
      if (provider === undefined || nowMs - entry.usedAtMs > unusedMs) {
        seen.delete(jti);
      } else if (nowMs - entry.checkedAtMs >= checkMs && entry.checking === undefined) {
        begin(jti, provider, entry).then(() => {
          isFailing = false;
        }, noteFailure);
      }
    }
  }

  const timer = providers.size === 0 ? undefined : setInterval(checkUsed, checkMs / 5).unref();

  return {
    noteOpened: (sessionId, provider) => void note(sessionId, provider, performance.now()),
    use(sessionId, providerName) {
      const provider = providers.get(providerName);
      if (provider === undefined) {
        throw new InfraError(
          authReasons.TOKEN_REVOKED,
          `the session was ended: the identity provider ${providerName} is no longer configured`,
        );
      }
      const entry = seen.get(sessionId) ?? note(sessionId, providerName, Number.NEGATIVE_INFINITY);
      entry.usedAtMs = performance.now();
      const isStale = entry.usedAtMs - entry.checkedAtMs >= staleMs;
      return isStale ? begin(sessionId, provider, entry) : undefined;
    },

    async close() {
      clearInterval(timer);
      closing.abort();
      await Promise.allSettled([...seen.values()].map(({ checking }) => checking));
    },
  };
}

function ended(): InfraError {
  return new InfraError(
    authReasons.TOKEN_REVOKED,
    "the session was ended: the identity provider no longer confirms it",
  );
}
