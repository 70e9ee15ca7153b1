import { type ChosenVolume, chosenBy, type PoolBackupRun } from "./backup-run.ts";
import type { HeldVolume } from "./pool-volumes.ts";

/** Progress of an operation while it stores volumes. */
export interface StoreProgress {
  /** Reports the beginning of a volume. @returns the chosen volume of that name */
  begin(volume: HeldVolume): ChosenVolume;
  report(transferred: { readonly doneBytes: number }): void;
  end(volume: HeldVolume): void;
}

/**
 * @param missing chosen volumes that are not stored yet
 * @param storedBytes total size of the chosen volumes that are stored
 */
export function createStoreProgress(
  run: Pick<PoolBackupRun, "output" | "progress">,
  missing: readonly ChosenVolume[],
  storedBytes: number,
): StoreProgress {
  const all = chosenBy(run);
  const totalBytes = all.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  let count = all.length - missing.length;
  let beforeBytes = storedBytes;
  let message = "";
  const reportBytes = (doneBytes: number) =>
    run.progress({ message, doneBytes: Math.min(beforeBytes + doneBytes, totalBytes), totalBytes });
  return {
    begin({ name }) {
      const chosen = missing.find((one) => one.name === name);
      if (chosen === undefined) {
        throw new TypeError(`${name} was not requested`);
      }
      count += 1;
      message = `storing ${name} (${count} of ${all.length})`;
      reportBytes(0);
      return chosen;
    },
    report: ({ doneBytes }) => reportBytes(doneBytes),
    end({ source }) {
      beforeBytes += source.sizeBytes;
    },
  };
}
