import { createLimiter } from "../../../../adapters/host/limiter.ts";
import type { Seal } from "../../../crypto/seal.ts";
import type { EndedProviderSession } from "../store/sessions.ts";
import { openLogin } from "./kept-login.ts";
import type { Provider } from "./provider.ts";

/** Revokes the refresh tokens of logins that have ended (RFC 7009). Failures are only logged. */
export interface TokenRevocations {
  /** Begins to revoke a token at its provider. */
  begin(provider: string, refreshToken: string): void;
  /** Begins to revoke the tokens of ended sessions. */
  beginAll(ended: readonly EndedProviderSession[]): void;
  /** Resolves once those that have begun have ended. Those that wait for others are given up. */
  close(): Promise<void>;
}

export interface TokenRevocationsOptions {
  readonly providers: ReadonlyMap<string, Provider>;
  /** Decrypts refresh tokens. */
  readonly seal: Seal;
  /** Called with failures. */
  readonly onFailed: (message: string, error: unknown) => void;
}

/** The removal of a user, or the expiry of a day's logins, ends many sessions at once. */
const limits = { maxRunning: 8, maxWaiting: 50_000 };

/** Creates the revocations of a gateway. They run in the background, so that no end of a login waits for a provider. */
export function createTokenRevocations(options: TokenRevocationsOptions): TokenRevocations {
  const { providers, seal, onFailed } = options;
  const running = new Set<Promise<void>>();
  const closing = new AbortController();
  const limiters = new Map(
    [...providers.keys()].map((name) => {
      const what = `revocations of logins at ${name}`;
      return [name, createLimiter({ what, queue: "login revocations", ...limits })];
    }),
  );

  async function revoke(name: string, tokenOf: () => string): Promise<void> {
    try {
      const token = tokenOf();
      const task = async () => providers.get(name)?.use((connection) => connection.revoke(token));
      await limiters.get(name)?.run(task, closing.signal);
    } catch (error) {
      const words = `the refresh token of a login at ${name} was not revoked when the login ended, and is valid there until it expires`;
      onFailed(words, error);
    }
  }

  function begin(provider: string, tokenOf: () => string): void {
    const revocation = revoke(provider, tokenOf).finally(() => running.delete(revocation));
    running.add(revocation);
  }

  return {
    begin: (provider, refreshToken) => begin(provider, () => refreshToken),
    beginAll(ended) {
      for (const { jti, provider, refreshTokenSealed } of ended) {
        begin(provider, () => openLogin(seal, refreshTokenSealed, jti).refreshToken);
      }
    },
    async close() {
      closing.abort();
      await Promise.all(running);
    },
  };
}
