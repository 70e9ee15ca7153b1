import type { Seal } from "../../crypto/seal.ts";
import type { Json } from "../operation.ts";

/** Encrypts the secrets of one operation; undefined where there are none. */
export function sealSecrets(seal: Seal, secrets: Json, operationId: string): Uint8Array | undefined {
  return secrets === null ? undefined : seal.seal(Buffer.from(JSON.stringify(secrets)), operationId);
}

/** Decrypts the secrets of one operation. @throws Error when this master key cannot decrypt them */
export function openSecrets(seal: Seal, sealed: Uint8Array | undefined, operationId: string): Json {
  return sealed === undefined
    ? null
    : (JSON.parse(Buffer.from(seal.open(sealed, operationId)).toString("utf8")) as Json);
}

/** Shorter texts occur in ordinary ones by chance. */
const shortestSecret = 4;

/** Returns a function that removes the secrets from a text, because a step's error may repeat its input. */
export function createRedaction(secrets: Json): (text: string) => string {
  const texts = textsOf(secrets)
    .filter((text) => text.length >= shortestSecret)
    .toSorted((a, b) => b.length - a.length);
  return (text) => texts.reduce((rest, secret) => rest.replaceAll(secret, "***"), text);
}

/** Removes the secrets from an error and its causes, for the log. */
export function redactedError(error: unknown, redact: (text: string) => string): Error {
  if (!(error instanceof Error)) {
    return new Error(redact(String(error)));
  }
  const { message, stack = "", cause } = error;
  const plain = new Error(
    redact(message),
    cause === undefined ? undefined : { cause: redactedError(cause, redact) },
  );
  plain.stack = redact(stack);
  return plain;
}

function textsOf(value: Json): string[] {
  if (typeof value === "string") {
    return [value];
  }
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsOf) : [];
}
