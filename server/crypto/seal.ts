import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from "node:crypto";
import type { MasterKey } from "./master-key.ts";
import type { MasterKeys } from "./master-keys.ts";

/** AES-256-GCM (NIST SP 800-38D), by its name in node:crypto. */
const algorithm = "aes-256-gcm";
const version = 2;
const fingerprintBytes = 16;
const nonceBytes = 12;
const tagBytes = 16;

/** A sealed secret begins with this many bytes that name its format and its master key. */
export const sealHeadBytes = 1 + fingerprintBytes;

const nonceEnd = sealHeadBytes + nonceBytes;

/** Encrypts secrets of the store for one purpose. */
export interface Seal {
  /**
   * Encrypts a secret with the master key in use.
   * @param context what the secret belongs to, such as the id of its row. Only the same context opens it, so it cannot be moved
   * to another row
   */
  seal(secret: Uint8Array, context: string): Uint8Array;
  /**
   * Decrypts a secret. @throws Error when it was sealed with a key that is not among the master keys, for another purpose or
   * context, or was changed
   */
  open(sealed: Uint8Array, context: string): Uint8Array;
}

/** The keys that a seal uses. */
export type SealKeys = Pick<MasterKeys, "current" | "find">;

/** Returns the first bytes of everything that is sealed with a master key. */
export function sealHeadOf(fingerprint: string): Uint8Array {
  return Uint8Array.of(version, ...Buffer.from(fingerprint, "hex"));
}

/** Returns the fingerprint of the master key that a sealed secret needs. @param sealed the secret, or its head */
export function keyOfSealed(sealed: Uint8Array): string {
  return Buffer.from(sealed.subarray(1, sealHeadBytes)).toString("hex");
}

/**
 * Creates the seal for one purpose. A sealed secret is one byte with the version of this format, the fingerprint of the master
 * key, the nonce, the ciphertext and the tag. Nonces are random, so one key is good for 2^32 secrets; each purpose has its own key.
 * @param purpose a name that never changes
 */
export function createSeal(masterKeys: SealKeys, purpose: string): Seal {
  const derived = new Map<string, KeyObject>();
  // No purpose contains a NUL, so no two pairs give the same text. The number never changed with the format.
  const additionalData = (context: string) => Buffer.from(`1\0${purpose}\0${context}`);

  function derivedFrom(key: MasterKey): KeyObject {
    const known = derived.get(key.fingerprint) ?? key.deriveKey(`seal/${purpose}`);
    derived.set(key.fingerprint, known);
    return known;
  }

  return {
    seal(secret, context) {
      const key = masterKeys.current;
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv(algorithm, derivedFrom(key), nonce, { authTagLength: tagBytes });
      cipher.setAAD(additionalData(context));
      const parts = [sealHeadOf(key.fingerprint), nonce, cipher.update(secret), cipher.final()];
      return new Uint8Array(Buffer.concat([...parts, cipher.getAuthTag()]));
    },
    open(sealed, context) {
      if (sealed.length < nonceEnd + tagBytes || sealed[0] !== version) {
        throw new Error(`a secret for ${purpose} has a format that this version does not support`);
      }
      const fingerprint = keyOfSealed(sealed);
      const key = masterKeys.find(fingerprint);
      if (key === undefined) {
        throw new Error(
          `a secret for ${purpose} cannot be decrypted: it needs the master key ${fingerprint}`,
        );
      }
      const nonce = sealed.subarray(sealHeadBytes, nonceEnd);
      const decipher = createDecipheriv(algorithm, derivedFrom(key), nonce, { authTagLength: tagBytes });
      decipher.setAAD(additionalData(context));
      decipher.setAuthTag(sealed.subarray(-tagBytes));
      try {
        const secret = decipher.update(sealed.subarray(nonceEnd, -tagBytes));
        return new Uint8Array(Buffer.concat([secret, decipher.final()]));
      } catch (error) {
        throw new Error(`a secret for ${purpose} cannot be decrypted with its master key`, { cause: error });
      }
    },
  };
}
