import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { test } from "tap";
import { masterKeysFromText } from "../../../server/crypto/master-keys.ts";
import { createSeal, keyOfSealed } from "../../../server/crypto/seal.ts";

const newKey = () => masterKeysFromText(randomBytes(32).toString("base64"), "the test");
const keys = newKey();
const seal = createSeal(keys, "signing-key");

test("a sealed secret opens again, and no two are the same", async () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 500 }), fc.string(), (secret, context) => {
      const sealed = seal.seal(secret, context);
      const again = seal.seal(secret, context);
      return (
        Buffer.from(secret).equals(seal.open(sealed, context)) &&
        !Buffer.from(sealed).equals(again) &&
        sealed.length === secret.length + 45
      );
    }),
  );
});

test("a secret with any bit flipped, cut or added does not open", async (t) => {
  const secret = randomBytes(40);
  const sealed = seal.seal(secret, "key-1");
  for (let bit = 0; bit < sealed.length * 8; bit++) {
    const bent = Uint8Array.from(sealed);
    bent[bit >> 3] = (bent[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    t.throws(() => seal.open(bent, "key-1"), `bit ${bit}`);
  }
  for (let length = 0; length < sealed.length; length++) {
    t.throws(() => seal.open(sealed.subarray(0, length), "key-1"), `${length} bytes`);
  }
  t.throws(() => seal.open(Uint8Array.from([...sealed, 0]), "key-1"));
});

test("arbitrary bytes do not open", async () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      try {
        seal.open(bytes, "key-1");
        return false;
      } catch (error) {
        return error instanceof Error && /cannot be decrypted|does not support/.test(error.message);
      }
    }),
  );
});

test("it only opens with the same key, purpose and context", async (t) => {
  const sealed = seal.seal(Buffer.from("secret"), "key-1");
  t.throws(() => seal.open(sealed, "key-2"), /cannot be decrypted with its master key/);
  t.throws(() => createSeal(keys, "idempotency").open(sealed, "key-1"));
  t.throws(() => createSeal(newKey(), "signing-key").open(sealed, "key-1"));
});

test("a secret names the key that it needs", async (t) => {
  const [first, second] = [randomBytes(32).toString("base64"), randomBytes(32).toString("base64")];
  const both = masterKeysFromText(`${first}\n${second}`, "both");
  const sealOfBoth = createSeal(both, "signing-key");
  const [ofFirst, ofSecond] = [first, second].map((text) => masterKeysFromText(text, "one"));
  both.use(ofFirst?.current.fingerprint ?? "");
  const old = sealOfBoth.seal(Buffer.from("secret"), "key-1");
  both.use(ofSecond?.current.fingerprint ?? "");
  const young = sealOfBoth.seal(Buffer.from("secret"), "key-1");
  t.equal(keyOfSealed(old), ofFirst?.current.fingerprint);
  t.equal(keyOfSealed(young), ofSecond?.current.fingerprint);
  for (const sealed of [old, young]) {
    t.equal(Buffer.from(sealOfBoth.open(sealed, "key-1")).toString(), "secret");
  }
  t.throws(
    () => createSeal(ofSecond ?? both, "signing-key").open(old, "key-1"),
    new Error(`a secret for signing-key cannot be decrypted: it needs the master key ${keyOfSealed(old)}`),
  );
});
