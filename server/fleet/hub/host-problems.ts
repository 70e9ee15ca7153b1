/** Why hosts of this hub cannot be used, for people. */
export interface HostProblems {
  /** Returns the problem of a host; undefined if it has none. */
  find(host: string): string | undefined;
  /** Notes a problem, which is shown until it is solved, or for a minute after it was last noted. */
  note(host: string, problem: string): void;
  solved(host: string): void;
  /** Calls back when a host has another problem than before. Returns a function that removes the listener. */
  onChange(listener: () => void): () => void;
  close(): void;
}

/** An agent tries again every few seconds. */
const shownMs = 60_000;

/** @param log receives each problem once */
export function createHostProblems(log: { warn(message: string): void }): HostProblems {
  const problems = new Map<string, { readonly text: string; readonly timer: NodeJS.Timeout }>();
  const listeners = new Set<() => void>();

  function changed(): void {
    for (const listener of [...listeners]) {
      listener();
    }
  }

  function solved(host: string): void {
    clearTimeout(problems.get(host)?.timer);
    if (problems.delete(host)) {
      changed();
    }
  }

  return {
    find: (host) => problems.get(host)?.text,
    note(host, text) {
      const earlier = problems.get(host);
      clearTimeout(earlier?.timer);
      problems.set(host, { text, timer: setTimeout(solved, shownMs, host).unref() });
      if (earlier?.text !== text) {
        log.warn(`host ${host}: ${text}`);
        changed();
      }
    },
    solved,
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close() {
      for (const { timer } of problems.values()) {
        clearTimeout(timer);
      }
    },
  };
}
