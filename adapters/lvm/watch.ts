import { type FSWatcher, watch } from "node:fs";
import { stat } from "node:fs/promises";

export interface DirectoryWatchOptions {
  readonly directory: string;
  /**
   * Called once for a burst of changes, and when the directory comes, goes or is replaced; with the time of the
   * last change (performance.now()).
   */
  readonly onChange: (changedAtMs: number) => void;
  /** From the first change of a burst to the call. */
  readonly debounceMs?: number;
  /** How often a directory that is not there is looked for. */
  readonly retryMs?: number;
}

export interface DirectoryWatch {
  /** Ends when the directory is watched, or known not to be there yet; from then on no change is missed. */
  readonly ready: Promise<void>;
  close(): void;
}

/**
 * Watches the entries of a directory by inotify, wherever it is in its life: it may come later, be removed, or
 * be replaced by another of the same name. LVM writes `backup/backup_dir/<group>` by rename after each commit
 * of metadata, and only then; reading does not touch it.
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

  /** Sees to it that the directory of this moment is watched. */
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

  /** The directory may have been filled before it was watched, so its coming is a change. */
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
      // Gone again, or the user's inotify watches are used up: look again later.
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

/** Tells a directory from another that came after it: by its inode alone they may be the same. */
async function identityOf(directory: string): Promise<string | undefined> {
  try {
    const { ino, birthtimeNs } = await stat(directory, { bigint: true });
    return `${ino} ${birthtimeNs}`;
  } catch {
    return undefined;
  }
}
