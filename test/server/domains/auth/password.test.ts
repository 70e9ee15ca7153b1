import { argon2Sync, randomBytes } from "node:crypto";
import fc from "fast-check";
import { test } from "tap";
import {
  assertPassword,
  hashPassword,
  loginTurns,
  verifyPassword,
  verifyPasswordInTurn,
} from "../../../../server/domains/auth/password.ts";
import { reasonOf } from "./auth-under-test.ts";

test("a password is verified only against its own hash", async (t) => {
  const phc = await hashPassword("correct horse");
  t.match(phc, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
  t.ok(await verifyPassword(phc, "correct horse"));
  t.notOk(await verifyPassword(phc, "correct horsf"));
  t.notOk(await verifyPassword(phc, ""));
  t.not(await hashPassword("correct horse"), phc, "salted");
});

test("an accent counts the same however a keyboard composes it", async (t) => {
  const phc = await hashPassword("caf\u00e9 au lait");
  t.ok(await verifyPassword(phc, "cafe\u0301 au lait"));
});

test("parameters are read from the hash", async (t) => {
  const nonce = randomBytes(16);
  const settings = { memory: 64, passes: 3, parallelism: 2, tagLength: 24 };
  const tag = argon2Sync("argon2id", { ...settings, nonce, message: "another time" });
  const base64 = (bytes: Buffer) => bytes.toString("base64").replace(/=+$/, "");
  const phc = `$argon2id$v=19$m=64,t=3,p=2$${base64(nonce)}$${base64(tag)}`;
  t.ok(await verifyPassword(phc, "another time"));
  t.notOk(await verifyPassword(phc, "Another time"));
});

test("an invalid hash or one with excessive parameters is rejected without computing it", async (t) => {
  const salt = "c2FsdHNhbHRzYWx0c2FsdA";
  const tag = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
  for (const phc of [
    "",
    "plain",
    `$argon2i$v=19$m=19456,t=2,p=1$${salt}$${tag}`,
    `$argon2id$v=16$m=19456,t=2,p=1$${salt}$${tag}`,
    `$argon2id$v=19$m=9999999,t=2,p=1$${salt}$${tag}`,
    `$argon2id$v=19$m=19456,t=99,p=1$${salt}$${tag}`,
    `$argon2id$v=19$m=19456,t=2,p=0$${salt}$${tag}`,
    `$argon2id$v=19$m=19456,t=2,p=1$${salt}$`,
  ]) {
    await t.rejects(verifyPassword(phc, "x"), /unknown format/, phc);
  }
  await fc.assert(
    fc.asyncProperty(fc.string(), (text) =>
      verifyPassword(text, "x").then(
        () => false,
        () => true,
      ),
    ),
  );
});

test("nothing matches a missing hash", async (t) => {
  t.notOk(await verifyPasswordInTurn(undefined, "correct horse"));
  t.notOk(await verifyPasswordInTurn(undefined, ""));
});

test("a password that is too long is wrong, and is not hashed", async (t) => {
  const phc = await hashPassword("correct horse");
  t.notOk(await verifyPassword(phc, `correct horse${"x".repeat(4_000_000)}`));
  const empty = await hashPassword("");
  t.notOk(await verifyPassword(empty, "x".repeat(71)));
});

test("a new password has at least 8 characters and at most 70 bytes", async (t) => {
  assertPassword("12345678", "password");
  assertPassword("x".repeat(70), "password");
  for (const text of ["", "1234567", "\u{1f600}".repeat(7), "x".repeat(71), "\u20ac".repeat(24)]) {
    t.throws(
      () => assertPassword(text, "new_password"),
      /^new_password: must have at (least 8|most 70)/,
      text,
    );
  }
  assertPassword("\u{1f600}".repeat(8), "password");
});

test("logins wait in a separate bounded queue", async (t) => {
  const gate = Promise.withResolvers<void>();
  const logins = Array.from({ length: 33 }, () => loginTurns.run(() => gate.promise));
  t.equal(await reasonOf(loginTurns.run(async () => {})), "BUSY");
  t.match(await hashPassword("correct horse"), /^\$argon2id/, "a change by an admin is not blocked");
  gate.resolve();
  await Promise.all(logins);
});
