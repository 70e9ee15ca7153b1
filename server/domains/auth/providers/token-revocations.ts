import type { Provider } from "./provider.ts";

/** Revokes the refresh tokens of logins that have ended. */
export interface TokenRevocations {
  /**
   * Begins to revoke a token at its provider. A failure is only logged.
   * @param tokenOf returns the token; may throw
   */
  begin(provider: string, tokenOf: () => string): void;
  /** Resolves once those that have begun have ended. */
  close(): Promise<void>;
}

export interface TokenRevocationsOptions {
  readonly providers: ReadonlyMap<string, Provider>;
  /** Called with failures. */
  readonly onFailed: (message: string, error: unknown) => void;
}

/** Creates the revocations of a gateway. They run in the background, so that no logout waits for a provider. */
export function createTokenRevocations({ providers, onFailed }: TokenRevocationsOptions): TokenRevocations {
  const running = new Set<Promise<void>>();

  async function revoke(name: string, tokenOf: () => string): Promise<void> {
    try {
      const token = tokenOf();
      await providers.get(name)?.use((connection) => connection.revoke(token));
    } catch (error) {
      const words = `the refresh token of a login at ${name} was not revoked after its logout, and is valid there until it expires`;
      onFailed(words, error);
    }
  }

  return {
    begin(provider, tokenOf) {
      const revocation = revoke(provider, tokenOf).finally(() => running.delete(revocation));
      running.add(revocation);
    },
    close: async () => void (await Promise.all(running)),
  };
}
