import { type Argon2Parameters, argon2, randomBytes, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { invalidField } from "../../../adapters/host/infra-error.ts";
import { createLimiter } from "../../../adapters/host/limiter.ts";

/** OWASP's Password Storage Cheat Sheet: argon2id with at least 19 MiB, two passes and one lane. */
const parameters = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 };
const nonceBytes = 16;

/** Maximum parameters of a stored hash, so that a corrupted store cannot exhaust the machine. */
const limits = { memory: 1_048_576, passes: 16, parallelism: 16 };

/** Limits of the contract: the published login form accepts no longer password. */
const minCharacters = 8;
const maxBytes = 70;

const deriveKey = promisify(argon2);

/**
 * Limiters of hashing, which takes 20 MiB and a core each. Logins have their own queue, so that a flood of logins does not keep
 * admins from changing passwords. At most two hashes run at once.
 */
const turns = createLimiter({ what: "password changes", maxRunning: 1, maxWaiting: 32 });
export const loginTurns = createLimiter({ what: "logins", maxRunning: 1, maxWaiting: 32 });

/**
 * Refuses a new password that is too short or too long.
 * @param field its name in the contract
 * @throws InfraError INVALID_FIELD
 */
export function assertPassword(password: string, field: string): void {
  if ([...password].length < minCharacters) {
    throw invalidField(field, `must have at least ${minCharacters} characters`);
  }
  if (isTooLong(password)) {
    throw invalidField(field, `must have at most ${maxBytes} bytes`);
  }
}

/**
 * Hashes a password for the store, in the PHC string format: `$argon2id$v=19$m=19456,t=2,p=1$<salt>$<hash>`.
 * @throws InfraError BUSY when too many are queued
 */
export function hashPassword(password: string): Promise<string> {
  return turns.run(async () => {
    const nonce = randomBytes(nonceBytes);
    const { memory, passes, parallelism } = parameters;
    const tag = await deriveTag(password, { ...parameters, nonce });
    return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${toBase64(nonce)}$${toBase64(tag)}`;
  });
}

/**
 * Reports whether a password matches a hash, for a caller who is already logged in.
 * @throws InfraError BUSY when too many are queued; Error for a string that `hashPassword` does not return
 */
export function verifyPassword(phc: string, password: string): Promise<boolean> {
  return turns.run(() => verifyPasswordInTurn(phc, password));
}

/**
 * Reports whether a password matches a hash, without queueing: the caller must hold a slot of `loginTurns`. Without a hash (there
 * is no such user, or the user has no password) it takes as long, and returns false.
 */
export async function verifyPasswordInTurn(phc: string | undefined, password: string): Promise<boolean> {
  const { tag, ...rest } = parsePhc(phc ?? dummyPhc);
  // A password that is too long was never set. Hashing it would be useless, and the cost grows with its length.
  const isKnown = phc !== undefined && !isTooLong(password);
  const derived = await deriveTag(isTooLong(password) ? "" : password, { ...rest, tagLength: tag.length });
  return timingSafeEqual(derived, tag) && isKnown;
}

/** Not the hash of any password: its tag is random. */
const dummyPhc = `$argon2id$v=19$m=${parameters.memory},t=${parameters.passes},p=${parameters.parallelism}$${toBase64(randomBytes(nonceBytes))}$${toBase64(randomBytes(parameters.tagLength))}`;

const phcFormat = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$([\w+/]{11,86})\$([\w+/]{22,86})$/;

/** Reads the parameters from the string, so that those of new passwords can be raised. */
function parsePhc(phc: string): Omit<Argon2Parameters, "message" | "tagLength"> & { readonly tag: Buffer } {
  const [, m, t, p, nonce = "", tag = ""] = phcFormat.exec(phc) ?? [];
  const [memory, passes, parallelism] = [Number(m), Number(t), Number(p)];
  const isWithin =
    memory >= 8 * parallelism &&
    memory <= limits.memory &&
    passes >= 1 &&
    passes <= limits.passes &&
    parallelism >= 1 &&
    parallelism <= limits.parallelism;
  if (!isWithin) {
    throw new Error("a password hash in the store has an unknown format");
  }
  return {
    memory,
    passes,
    parallelism,
    nonce: Buffer.from(nonce, "base64"),
    tag: Buffer.from(tag, "base64"),
  };
}

/** Derives the tag. Normalizes the password, because keyboards differ in how they compose accents (NIST SP 800-63B, 3.1.1.2). */
function deriveTag(password: string, rest: Omit<Argon2Parameters, "message">): Promise<Buffer> {
  return deriveKey("argon2id", { ...rest, message: password.normalize("NFKC") });
}

function isTooLong(password: string): boolean {
  return Buffer.byteLength(password) > maxBytes;
}

function toBase64(bytes: Buffer): string {
  return bytes.toString("base64").replace(/=+$/, "");
}
