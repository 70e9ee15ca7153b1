import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { test } from "tap";
import { openExportedKeys, sealExportedKeys } from "../../../server/backups/exported-keys.ts";
import { masterKeysFromText } from "../../../server/crypto/master-keys.ts";

const newKeys = () => masterKeysFromText(randomBytes(32).toString("base64"), "the second key");
const secondKey = newKeys();
const exported = [{ repository: "/srv/backup", name: "key-1", key: "correct horse" }];

test("exported keys are what they were, and only the second key decrypts them", async (t) => {
  const anyKey = fc.record({ repository: fc.string(), name: fc.string(), key: fc.string() });
  fc.assert(
    fc.property(fc.array(anyKey), (keys) => {
      t.same(openExportedKeys(sealExportedKeys(keys, secondKey), secondKey), keys);
    }),
  );
  const text = sealExportedKeys(exported, secondKey);
  t.notMatch(text, "horse");
  const other = newKeys();
  t.throws(() => openExportedKeys(text, other), {
    reason: "INVALID_FIELD",
    message: `key-file: expected the key ${secondKey.current.fingerprint}, got ${other.current.fingerprint}`,
  });
});

test("any other or damaged file is refused", async () => {
  const refuses = (text: string) => {
    try {
      openExportedKeys(text, secondKey);
      return false;
    } catch (error) {
      return (
        error instanceof Error && /^file: (expected a file that|the file is damaged)/.test(error.message)
      );
    }
  };
  const text = sealExportedKeys(exported, secondKey);
  fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), refuses));
  fc.assert(fc.property(fc.integer({ min: 0, max: text.length - 2 }), (end) => refuses(text.slice(0, end))));
  const { sealed, ...rest } = JSON.parse(text);
  fc.assert(
    fc.property(fc.integer({ min: 0, max: Buffer.from(sealed, "base64").length - 1 }), (index) => {
      const bytes = Buffer.from(sealed, "base64");
      bytes[index] = (bytes[index] ?? 0) ^ 1;
      return refuses(JSON.stringify({ ...rest, sealed: bytes.toString("base64") }));
    }),
  );
});
