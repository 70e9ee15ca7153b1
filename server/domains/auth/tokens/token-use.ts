import type { Store } from "../../../store/store.ts";

/** Last uses of API tokens, buffered and written periodically, so that a use does not cost a commit. */
export interface TokenUse {
  /** Records that the token with this account ID was used now. This is cheap. */
  note(accountId: string): void;
  /** Writes pending uses. */
  close(): Promise<void>;
}

/** The contract promises `last_used_at` to within a minute. */
const writeEveryMs = 30_000;

/** @param onFailed called when a write fails; it is retried with the next one */
export function createTokenUse(
  store: Pick<Store, "run">,
  onFailed: (error: unknown) => void,
  everyMs = writeEveryMs,
): TokenUse {
  /** Last use of each token, in terms of the monotonic clock. */
  const usedAtMs = new Map<string, number>();
  let writing = Promise.resolve();

  async function write(): Promise<void> {
    if (usedAtMs.size === 0) {
      return;
    }
    const entries = [...usedAtMs];
    usedAtMs.clear();
    const now = performance.now();
    try {
      const uses = entries.map(([id, at]) => ({ id, agoMs: Math.round(now - at) }));
      await store.run("apiTokens.noteUse", { uses });
    } catch (error) {
      for (const [id, at] of entries) {
        usedAtMs.set(id, usedAtMs.get(id) ?? at);
      }
      onFailed(error);
    }
  }

  const timer = setInterval(() => {
    writing = writing.then(write);
  }, everyMs).unref();

  return {
    note: (accountId) => void usedAtMs.set(accountId, performance.now()),
    close() {
      clearInterval(timer);
      writing = writing.then(write);
      return writing;
    },
  };
}
