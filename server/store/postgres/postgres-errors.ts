import { DatabaseError } from "pg";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../adapters/host/reasons.ts";
import { storeReasons } from "../reasons.ts";

/** Removes the password and the values of rows from the errors of one database. */
export interface PostgresErrors {
  /** `postgres://host:port/database`. */
  readonly shownAs: string;
  /**
   * Returns STORE_UNAVAILABLE for transient errors and those to be fixed at the database, else INTERNAL with the message `fault`.
   */
  infraError(error: unknown, fault: string): InfraError;
  /** Returns an error for the log that has only the message, stack and SQLSTATE of the original. */
  plainError(error: unknown): Error;
}

/**
 * SQLSTATEs of transient errors and of those to be fixed at the database: connection (08), login (28), no such database (3D),
 * resources such as a full disk (53), an operator's shutdown or a time limit (57), input/output (58), idle for too long
 * (25P0x), a standby that refuses writes (25006), a lock that is not available (55P03).
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const unavailable = /^(08|28|3D|53|57|58)|^(25006|25P0[345]|55P03)$/;

/** Serialization failure and deadlock. */
const runAgain: ReadonlySet<string | undefined> = new Set(["40001", "40P01"]);

/**
 * Reports whether to retry a transaction. A duplicate key is a reason too, unless the transaction ran exclusively: PostgreSQL
 * may report it instead of a serialization failure when another transaction inserts a key that this one has seen as free
 * (https://www.postgresql.org/docs/current/mvcc-serialization-failure-handling.html).
 */
export function isToRunAgain(error: unknown, wasAlone: boolean): boolean {
  if (!(error instanceof DatabaseError)) {
    return false;
  }
  return runAgain.has(error.code) || (error.code === "23505" && !wasAlone);
}

/** Reports whether the error is that a table to be created already exists. */
export function isDuplicateTable(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === "42P07";
}

/** @throws InfraError STORE_UNAVAILABLE if the text is not a URL; the message does not repeat it */
export function createPostgresErrors(url: string): PostgresErrors {
  if (!URL.canParse(url)) {
    throw new InfraError(storeReasons.STORE_UNAVAILABLE, "the address of the database is not a URL");
  }
  const shownAs = shownUrl(url);
  const secrets = secretsOf(url);
  const redacted = (text: string) => secrets.reduce((rest, secret) => rest.replaceAll(secret, "***"), text);

  function plainError(error: unknown): Error {
    const { code } = error as { code?: unknown };
    // A message of class 22 repeats the value that it is about.
    const isAboutValue = error instanceof DatabaseError && error.code?.startsWith("22");
    const message = isAboutValue ? "a value was rejected" : redacted(messageOf(error));
    const plain = new Error(typeof code === "string" ? `${message} (${code})` : message);
    const [, ...frames] = error instanceof Error ? (error.stack?.split(/\n(?=\s+at )/) ?? []) : [];
    plain.stack = [`Error: ${plain.message}`, ...frames].join("\n");
    return plain;
  }

  return {
    shownAs,
    plainError,
    infraError(error, fault) {
      if (error instanceof InfraError) {
        return error;
      }
      const cause = plainError(error);
      if (error instanceof DatabaseError && unavailable.test(error.code ?? "")) {
        return storeUnavailable(cause);
      }
      return new InfraError(hostReasons.INTERNAL, fault, { cause });
    },
  };
}

/** Returns the error for callers while the database cannot be used. It repeats nothing of the cause, which may name hosts. */
export function storeUnavailable(cause: unknown): InfraError {
  const message = "the gateway's database is currently unavailable; see the gateway's log";
  return new InfraError(storeReasons.STORE_UNAVAILABLE, message, { cause, retryAfterMs: 1000 });
}

function messageOf(error: unknown): string {
  // For a host with several addresses, Node reports one error per address.
  if (error instanceof AggregateError) {
    return error.errors.map(messageOf).join("; ");
  }
  return error instanceof Error ? error.message : String(error);
}

function shownUrl(url: string): string {
  const { host, pathname } = new URL(url);
  return `postgres://${host}${pathname}`;
}

/** Returns the password both percent-encoded, as in the URL, and decoded. */
function secretsOf(url: string): string[] {
  const { password, searchParams } = new URL(url);
  const secrets = [password, decoded(password), searchParams.get("password") ?? ""];
  return secrets.filter((secret) => secret !== "");
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
