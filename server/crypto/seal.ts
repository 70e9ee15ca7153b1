import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { MasterKey } from "./master-key.ts";

/** AES-256-GCM (NIST SP 800-38D), as node:crypto names it. */
const algorithm = "aes-256-gcm";
const version = 1;
const nonceBytes = 12;
const tagBytes = 16;
const headBytes = 1 + nonceBytes;

/** Encrypts what the store keeps for one purpose. */
export interface Seal {
  /**
   * @param context what the secret belongs to, such as the id of its row; it opens with the same alone, so that it
   *   cannot be moved to another row
   */
  seal(secret: Uint8Array, context: string): Uint8Array;
  /** @throws Error when it was sealed with another key, for another purpose or context, or was changed */
  open(sealed: Uint8Array, context: string): Uint8Array;
}

/**
 * What it makes is one byte for the version of this format, the nonce, the encrypted secret and its tag. Nonces are
 * random, so that one key is good for 2^32 secrets; every purpose has a key of its own.
 * @param purpose a name that never changes
 */
export function createSeal(masterKey: MasterKey, purpose: string): Seal {
  const key = masterKey.deriveKey(`seal/${purpose}`);
  // No purpose holds a NUL, so that no two pairs make the same text.
  const additionalData = (context: string) => Buffer.from(`${version}\0${purpose}\0${context}`);

  return {
    seal(secret, context) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tagBytes });
      cipher.setAAD(additionalData(context));
      const head = Buffer.concat([Buffer.of(version), nonce]);
      return new Uint8Array(
        Buffer.concat([head, cipher.update(secret), cipher.final(), cipher.getAuthTag()]),
      );
    },
    open(sealed, context) {
      if (sealed.length < headBytes + tagBytes || sealed[0] !== version) {
        throw new Error(`what was sealed for ${purpose} is not in a form that this version knows`);
      }
      const decipher = createDecipheriv(algorithm, key, sealed.subarray(1, headBytes), {
        authTagLength: tagBytes,
      });
      decipher.setAAD(additionalData(context));
      decipher.setAuthTag(sealed.subarray(-tagBytes));
      try {
        const secret = decipher.update(sealed.subarray(headBytes, -tagBytes));
        return new Uint8Array(Buffer.concat([secret, decipher.final()]));
      } catch (error) {
        throw new Error(`what was sealed for ${purpose} does not open with this master key`, {
          cause: error,
        });
      }
    },
  };
}
