import { type Argon2Parameters, argon2, randomBytes, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { invalidField } from "../../../adapters/host/infra-error.ts";
import { createLimiter } from "../../../adapters/host/limiter.ts";

/** OWASP's Password Storage Cheat Sheet: argon2id with at least 19 MiB, two passes and one lane. */
const parameters = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 };
const nonceBytes = 16;

/** What a stored string may ask for at most, so that a damaged store cannot take the machine. */
const limits = { memory: 1_048_576, passes: 16, parallelism: 16 };

/** The contract's own limits: the published login form takes no longer one. */
const minCharacters = 8;
const maxBytes = 70;

const deriveKey = promisify(argon2);

/**
 * Whose turn it is to hash: 20 MiB and a core each. Who is not logged in has a line of its own, so that a storm of
 * logins keeps no admin from changing passwords; two hashes at once in all.
 */
const turns = createLimiter({ what: "password changes", maxRunning: 1, maxWaiting: 32 });
export const loginTurns = createLimiter({ what: "logins", maxRunning: 1, maxWaiting: 32 });

/**
 * Refuses a password that is too short or too long to be set.
 * @param field its name in the contract
 * @throws InfraError INVALID_FIELD
 */
export function assertPassword(password: string, field: string): void {
  if ([...password].length < minCharacters) {
    throw invalidField(field, `at least ${minCharacters} characters`);
  }
  if (isTooLong(password)) {
    throw invalidField(field, `at most ${maxBytes} bytes`);
  }
}

/**
 * The text that the store keeps of a password, in the PHC string format:
 * `$argon2id$v=19$m=19456,t=2,p=1$<salt>$<hash>`.
 * @throws InfraError BUSY when too many are waiting
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
 * Whether the password is the one that `phc` was made from, for a caller who is logged in already.
 * @throws InfraError BUSY when too many are waiting; Error for a string that is none of `hashPassword`
 */
export function verifyPassword(phc: string, password: string): Promise<boolean> {
  return turns.run(() => verifyPasswordInTurn(phc, password));
}

/**
 * The same without waiting, for who has the turn of `loginTurns`. It takes as long without a `phc`, when there is no
 * such user or the user has no password, and is then false.
 */
export async function verifyPasswordInTurn(phc: string | undefined, password: string): Promise<boolean> {
  const { tag, ...rest } = parsePhc(phc ?? dummyPhc);
  // One that is too long was never set. Hashing it would tell nothing, and takes the longer the longer it is.
  const isKnown = phc !== undefined && !isTooLong(password);
  const derived = await deriveTag(isTooLong(password) ? "" : password, { ...rest, tagLength: tag.length });
  return timingSafeEqual(derived, tag) && isKnown;
}

/** Of no password: what it is compared with was never derived from one. */
const dummyPhc = `$argon2id$v=19$m=${parameters.memory},t=${parameters.passes},p=${parameters.parallelism}$${toBase64(randomBytes(nonceBytes))}$${toBase64(randomBytes(parameters.tagLength))}`;

const phcFormat = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$([\w+/]{11,86})\$([\w+/]{22,86})$/;

/** Parameters are read from the string, so that those of new passwords can be raised. */
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
    throw new Error("a password in the store is not in the form that hostplane writes");
  }
  return {
    memory,
    passes,
    parallelism,
    nonce: Buffer.from(nonce, "base64"),
    tag: Buffer.from(tag, "base64"),
  };
}

/** One text for what looks alike: keyboards differ in whether they compose an accent (NIST SP 800-63B, 3.1.1.2). */
function deriveTag(password: string, rest: Omit<Argon2Parameters, "message">): Promise<Buffer> {
  return deriveKey("argon2id", { ...rest, message: password.normalize("NFKC") });
}

function isTooLong(password: string): boolean {
  return Buffer.byteLength(password) > maxBytes;
}

function toBase64(bytes: Buffer): string {
  return bytes.toString("base64").replace(/=+$/, "");
}
