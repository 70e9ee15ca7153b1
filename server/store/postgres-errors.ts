import { DatabaseError } from "pg";
import { InfraError } from "../../adapters/host/infra-error.ts";

/** Makes errors of one database fit to be told: without its password, and without values of rows. */
export interface PostgresErrors {
  /** `postgres://host:port/database`. */
  readonly shownAs: string;
  /** STORE_UNAVAILABLE when it passes by itself or can be mended at the database, else INTERNAL with `fault` as message. */
  infraError(error: unknown, fault: string): InfraError;
  /** For the log: what an error says, with only its message, stack and SQLSTATE. */
  plainError(error: unknown): Error;
}

/**
 * SQLSTATEs of what passes, or is mended at the database: connection (08), login (28), no such database (3D),
 * resources as a full disk (53), an operator's shutdown or a time limit (57), input/output (58), idle for too long
 * (25P0x), a standby that takes no writes (25006), a lock not to be had (55P03).
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const unavailable = /^(08|28|3D|53|57|58)|^(25006|25P0[345]|55P03)$/;

/** Serialization failure and deadlock. */
const runAgain: ReadonlySet<string | undefined> = new Set(["40001", "40P01"]);

/**
 * Whether a transaction is to be run again. Beside others that is so for a duplicate key too: of a key that it has seen
 * to be free and another has taken since, PostgreSQL may tell in this way
 * (https://www.postgresql.org/docs/current/mvcc-serialization-failure-handling.html).
 */
export function isToRunAgain(error: unknown, wasAlone: boolean): boolean {
  if (!(error instanceof DatabaseError)) {
    return false;
  }
  return runAgain.has(error.code) || (error.code === "23505" && !wasAlone);
}

/** Whether a table that is to be made exists. */
export function isDuplicateTable(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === "42P07";
}

/** @throws InfraError STORE_UNAVAILABLE, which repeats nothing of the text, when it is no URL */
export function createPostgresErrors(url: string): PostgresErrors {
  if (!URL.canParse(url)) {
    throw new InfraError("STORE_UNAVAILABLE", "the address of the database is no URL");
  }
  const shownAs = shownUrl(url);
  const secrets = secretsOf(url);
  const redacted = (text: string) => secrets.reduce((rest, secret) => rest.replaceAll(secret, "***"), text);

  function plainError(error: unknown): Error {
    const { code } = error as { code?: unknown };
    // Class 22 is about a value, which its message repeats.
    const isAboutValue = error instanceof DatabaseError && error.code?.startsWith("22");
    const message = isAboutValue ? "a value was refused" : redacted(messageOf(error));
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
      return new InfraError("INTERNAL", fault, { cause });
    },
  };
}

export function storeUnavailable(cause: unknown): InfraError {
  const message = "the database of the gateway cannot be reached or used now; the log says why";
  return new InfraError("STORE_UNAVAILABLE", message, { cause, retryAfterMs: 1000 });
}

function messageOf(error: unknown): string {
  // Of a host with several addresses, Node tells of each in an error of its own.
  if (error instanceof AggregateError) {
    return error.errors.map(messageOf).join("; ");
  }
  return error instanceof Error ? error.message : String(error);
}

function shownUrl(url: string): string {
  const { host, pathname } = new URL(url);
  return `postgres://${host}${pathname}`;
}

/** The password as it stands in the URL, and as it is. */
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
