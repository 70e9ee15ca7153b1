/** The position from which a log continues after its connection was lost. */
export interface LogPlace {
  /** Second of the newest line, since 1970; undefined before the first line. */
  readonly sinceSeconds: bigint | undefined;
  /** Returns those lines of GetLogs that are new, and records them. */
  take(lines: readonly string[]): readonly string[];
  /** Must be called before each connection: the lines that it sends first may be known already. */
  reconnect(): void;
}

/**
 * Creates a position that records a log's newest second with its lines: GetLogs resumes at a whole second and repeats its lines.
 */
export function createLogPlace(): LogPlace {
  let newest: number | undefined;
  let ofNewest: string[] = [];
  let repeated: string[] = [];

  function isNew(line: string): boolean {
    const index = repeated.indexOf(line);
    if (index >= 0) {
      repeated.splice(index, 1);
    }
    return index < 0;
  }

  function remember(line: string): void {
    const second = Math.floor(Date.parse(line.split(" ", 1)[0] ?? "") / 1000);
    if (second === newest) {
      ofNewest.push(line);
    } else if (!Number.isNaN(second) && (newest === undefined || second > newest)) {
      newest = second;
      ofNewest = [line];
    }
  }

  return {
    get sinceSeconds() {
      return newest === undefined ? undefined : BigInt(newest);
    },
    take(lines) {
      const added = lines.filter(isNew);
      for (const line of added) {
        remember(line);
      }
      return added;
    },
    reconnect() {
      repeated = [...ofNewest];
    },
  };
}
