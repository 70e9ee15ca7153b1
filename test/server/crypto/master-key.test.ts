import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { test } from "tap";
import { masterKeyFromText } from "../../../server/crypto/master-key.ts";

test("any text is a key or is refused with an explanation", async () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string(), fc.base64String(), fc.uint8Array({ minLength: 32, maxLength: 32 })),
      (any) => {
        const text = typeof any === "string" ? any : Buffer.from(any).toString("base64");
        try {
          return masterKeyFromText(text, "HOSTPLANE_KEY").fingerprint.length === 32;
        } catch (error) {
          return error instanceof Error && error.message.startsWith("HOSTPLANE_KEY: expected");
        }
      },
    ),
  );
});

test("an invalid key is refused without being repeated", async (t) => {
  const short = randomBytes(31).toString("base64");
  t.throws(
    () => masterKeyFromText(`${"A".repeat(42)}B=`, "HOSTPLANE_KEY"),
    /expected 32 bytes/,
    "not canonical",
  );
  try {
    masterKeyFromText(short, "HOSTPLANE_KEY");
    t.fail("it is accepted");
  } catch (error) {
    t.notMatch((error as Error).message, short);
  }
});

test("keys for different purposes have nothing in common", async (t) => {
  const key = masterKeyFromText(randomBytes(32).toString("base64"), "x");
  const exported = (purpose: string) => key.deriveKey(purpose).export().toString("hex");
  t.equal(exported("a"), exported("a"));
  t.not(exported("a"), exported("b"));
  t.notMatch(exported("fingerprint"), key.fingerprint);
});
