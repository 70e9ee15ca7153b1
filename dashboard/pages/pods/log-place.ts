/** Where a log is read on after its connection was lost. */
export interface LogPlace {
  /** The second of the newest line, since 1970; undefined before the first. */
  readonly sinceSeconds: bigint | undefined;
  /** What of the lines that GetLogs tells is not there yet; it is from then on. */
  take(lines: readonly string[]): readonly string[];
  /** To be called before each connection: what it tells first of that second may be there already. */
  reconnect(): void;
}

/** Remembers a log's newest second with its lines: GetLogs goes on from a second, and tells all of it again. */
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
