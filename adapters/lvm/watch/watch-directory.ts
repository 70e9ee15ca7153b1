import { type FSWatcher, watch } from "node:fs";
import { stat } from "node:fs/promises";

export interface DirectoryWatchOptions {
  readonly directory: string;
  /**
   * Called once for a burst of changes, and when the directory is created, removed or replaced; with the time of the
   * last change (performance.now()).
   */
  readonly onChange: (changedAtMs: number) => void;
  /** Time from the first change of a burst to the call. */
  readonly debounceMs?: number;
  /** Interval for checking whether a missing directory has been created. */
  readonly retryMs?: number;
}

export interface DirectoryWatch {
  /** Resolves when the directory is watched, or known not to exist yet; from then on no change is missed. */
  readonly ready: Promise<void>;
  close(): void;
}

/**
 * Watches the entries of a directory with inotify. The directory may be created later, removed, or replaced by another
 * of the same name. LVM writes `backup/backup_dir/<group>` by rename after each commit of metadata, and only then;
 * reading does not touch it.
 */
export function watchDirectory(options: DirectoryWatchOptions): DirectoryWatch {
  const { directory, onChange, debounceMs = 25, retryMs = 500 } = options;
  let watcher: FSWatcher | undefined;
  let watched: string | undefined;
  let debounceTimer: NodeJS.Timeout | undefined;
  let retryTimer: NodeJS.Timeout | undefined;
  let changedAtMs = 0;
  let closed = false;

  function notice(): void {
    changedAtMs = performance.now();
    if (debounceTimer !== undefined || closed) {
      return;
    }
    debounceTimer = setTimeout(() => {
      debounceTimer = undefined;
      onChange(changedAtMs);
      void arm();
    }, debounceMs).unref();
  }

  function disarm(): void {
    watcher?.close();
    watcher = undefined;
    watched = undefined;
  }

  /** Makes sure that the current directory is the one being watched. */
  async function arm(): Promise<void> {
    clearTimeout(retryTimer);
    const identity = await identityOf(directory);
    if (closed || (identity !== undefined && identity === watched)) {
      return;
    }
    const wasWatched = watched !== undefined;
    disarm();
    if (identity === undefined || !start()) {
      retryTimer = setTimeout(arrive, retryMs).unref();
      if (wasWatched) {
        notice();
      }
      return;
    }
    watched = identity;
    if (wasWatched) {
      notice();
    }
  }

  /**
   * Handles a directory that has appeared. It may have been filled before it was watched, so this counts as a change.
   */
  async function arrive(): Promise<void> {
    await arm();
    if (!closed && watcher !== undefined) {
      notice();
    }
  }

  function start(): boolean {
    try {
      watcher = watch(directory, { persistent: false }, notice);
    } catch {
      // Removed again, or the user's inotify watches are used up: try again later.
      return false;
    }
    watcher.on("error", () => {
      disarm();
      notice();
    });
    return true;
  }

  return {
    ready: arm(),
    close() {
      closed = true;
      clearTimeout(debounceTimer);
      clearTimeout(retryTimer);
      disarm();
    },
  };
}

/** Identifies a directory. The inode alone is not enough, since a replacement may reuse it. */
async function identityOf(directory: string): Promise<string | undefined> {
  try {
    const { ino, birthtimeNs } = await stat(directory, { bigint: true });
    return `${ino} ${birthtimeNs}`;
  } catch {
    return undefined;
  }
}
