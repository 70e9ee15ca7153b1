import { createSecretKey, hkdfSync, type KeyObject } from "node:crypto";

/** Bytes of a master key. */
export const masterKeyBytes = 32;

/** A key as text. */
const keyFormat = /^[A-Za-z0-9+/]{43}=$/;

/** A key that secrets in the store are encrypted with. It is never passed on; keys for use are derived from it. */
export interface MasterKey {
  /** Identifies the key without revealing anything about it: 16 bytes in hex. */
  readonly fingerprint: string;
  /** Derives 32 bytes for one purpose. They reveal neither this key nor the key of another purpose. */
  deriveKey(purpose: string): KeyObject;
}

/** Parses a master key. @throws Error when the text is not 32 bytes in base64; the message does not repeat the text */
export function masterKeyFromText(text: string, source: string): MasterKey {
  const bytes = Buffer.from(text, "base64");
  if (!keyFormat.test(text) || bytes.toString("base64") !== text) {
    throw new Error(
      `${source}: expected ${masterKeyBytes} bytes in base64 (44 characters), as \`openssl rand -base64 ${masterKeyBytes}\` prints`,
    );
  }
  const key = createSecretKey(bytes);
  // RFC 5869, without a salt: the key is already random.
  const derive = (info: string, length: number) =>
    Buffer.from(hkdfSync("sha256", key, "", `hostplane/v1/${info}`, length));
  return {
    fingerprint: derive("fingerprint", 16).toString("hex"),
    deriveKey: (purpose) => createSecretKey(derive(`purpose/${purpose}`, 32)),
  };
}
