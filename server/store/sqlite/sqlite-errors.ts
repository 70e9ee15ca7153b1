import { InfraError } from "../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../adapters/host/reasons.ts";
import { storeReasons } from "../reasons.ts";

interface SqliteError extends Error {
  /** https://www.sqlite.org/rescode.html; the lower 8 bits are the primary code. */
  readonly errcode: number;
}

/** Primary codes of transient errors: BUSY, LOCKED, NOMEM, READONLY, IOERR, FULL, CANTOPEN, PROTOCOL. */
const passing: ReadonlySet<number> = new Set([5, 6, 7, 8, 10, 13, 14, 15]);

/** CORRUPT and NOTADB. */
const damaged: ReadonlySet<number> = new Set([11, 26]);

const busy = 5;

const inputOutput = 10;

function primaryCode(error: unknown): number | undefined {
  return error instanceof Error && "errcode" in error ? (error as SqliteError).errcode & 0xff : undefined;
}

/** Reports whether another process has locked the database. */
export function isBusy(error: unknown): boolean {
  return primaryCode(error) === busy;
}

/** Reports whether the disk failed; a full disk does not count. */
export function isInputOutputError(error: unknown): boolean {
  return primaryCode(error) === inputOutput;
}

/**
 * Returns STORE_UNAVAILABLE when the disk is full or fails, STORE_DAMAGED when the file is damaged, and INTERNAL with the
 * message `fault` otherwise. SQLite's messages contain no values.
 */
export function infraErrorFromSqlite(error: unknown, fault: string): InfraError {
  if (error instanceof InfraError) {
    return error;
  }
  const code = primaryCode(error);
  if (code !== undefined && passing.has(code)) {
    const message = "the gateway's database currently cannot be read or written; see the gateway's log";
    return new InfraError(storeReasons.STORE_UNAVAILABLE, message, { cause: error, retryAfterMs: 1000 });
  }
  if (code !== undefined && damaged.has(code)) {
    const message =
      "the database file is damaged, or is not a database; docs/how-to/upgrade.md describes how to restore a backup";
    return new InfraError(storeReasons.STORE_DAMAGED, message, { cause: error });
  }
  return new InfraError(hostReasons.INTERNAL, fault, { cause: error });
}
