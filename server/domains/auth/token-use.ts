import type { Store } from "../../store/store.ts";

/** When API tokens were used, kept aside and written now and then: a use must not cost a commit. */
export interface TokenUse {
  /** Notes that the token with this account was used now. Costs next to nothing. */
  note(accountId: string): void;
  /** Writes what is left. */
  close(): Promise<void>;
}

/** `last_used_at` is promised to within a minute. */
const writeEveryMs = 30_000;

/** @param onFailed told when uses could not be written; they are written with the next ones */
export function createTokenUse(
  store: Pick<Store, "run">,
  onFailed: (error: unknown) => void,
  everyMs = writeEveryMs,
): TokenUse {
  /** When each was last used, by the steady clock. */
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
