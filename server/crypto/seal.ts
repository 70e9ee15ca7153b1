import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { MasterKey } from "./master-key.ts";

/** AES-256-GCM (NIST SP 800-38D), by its name in node:crypto. */
const algorithm = "aes-256-gcm";
const version = 1;
const nonceBytes = 12;
const tagBytes = 16;
const headBytes = 1 + nonceBytes;

/** Encrypts secrets of the store for one purpose. */
export interface Seal {
  /**
   * Encrypts a secret.
   * @param context what the secret belongs to, such as the id of its row. Only the same context opens it, so it cannot be moved
   * to another row
   */
  seal(secret: Uint8Array, context: string): Uint8Array;
  /** Decrypts a secret. @throws Error when it was sealed with another key, for another purpose or context, or was changed */
  open(sealed: Uint8Array, context: string): Uint8Array;
}

/**
 * Creates the seal for one purpose. A sealed secret is one byte with the version of this format, the nonce, the ciphertext and
 * the tag. Nonces are random, so one key is good for 2^32 secrets; each purpose has its own key.
 * @param purpose a name that never changes
 */
export function createSeal(masterKey: MasterKey, purpose: string): Seal {
  const key = masterKey.deriveKey(`seal/${purpose}`);
  // No purpose contains a NUL, so no two pairs give the same text.
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
        throw new Error(`a secret for ${purpose} has a format that this version does not support`);
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
        throw new Error(`a secret for ${purpose} cannot be decrypted with this master key`, {
          cause: error,
        });
      }
    },
  };
}
