import { createHmac, generateKeyPairSync, randomBytes } from "node:crypto";
import fc from "fast-check";
import { SignJWT } from "jose";
import { test } from "tap";
import {
  createSessionTokens,
  type SessionClaims,
} from "../../../../../server/domains/auth/sessions/session-token.ts";
import { reasonOf } from "../auth-under-test.ts";

const secret = randomBytes(32);
const secrets = new Map<string, Uint8Array>([["key-1", secret]]);
const secretOf = (keyId: string) => secrets.get(keyId);
const tokens = createSessionTokens({ audience: "hostplane", secretOf });
const verify = async (token: string) => tokens.verify(token);

const claims = (expiresInMs = 60_000): SessionClaims => {
  const nowMs = Date.now();
  return {
    sessionId: "s-1",
    accountId: "a-1",
    issuedAtMs: nowMs,
    expiresAtMs: Math.floor((nowMs + expiresInMs) / 1000) * 1000,
    keyId: "key-1",
  };
};

test("a signed token is read back, to the millisecond", async (t) => {
  const signed = claims();
  const token = await tokens.sign(signed);
  t.same(await tokens.verify(token), signed);
  t.same(tokens.verify(token), signed, "the second time synchronously, from memory");
  const [header = "", payload = ""] = token
    .split(".")
    .map((part) => Buffer.from(part, "base64url").toString());
  t.same(JSON.parse(header), { alg: "HS256", typ: "JWT", kid: "key-1" });
  t.match(JSON.parse(payload), { iss: "hostplane", aud: "hostplane", sub: "a-1", jti: "s-1" });
});

test("a token expires at the stated second, also from memory", async (t) => {
  t.equal(await reasonOf(verify(await tokens.sign(claims(-1000)))), "TOKEN_EXPIRED");
  const signed = { ...claims(), expiresAtMs: Math.ceil((Date.now() + 2000) / 1000) * 1000 };
  const token = await tokens.sign(signed);
  t.ok(await tokens.verify(token));
  await new Promise((resolve) => setTimeout(resolve, signed.expiresAtMs - Date.now() + 5));
  t.equal(await reasonOf(verify(token)), "TOKEN_EXPIRED");
});

test("a removed key no longer verifies, also from memory", async (t) => {
  secrets.set("key-2", randomBytes(32));
  const token = await tokens.sign({ ...claims(), keyId: "key-2" });
  t.ok(await tokens.verify(token));
  secrets.delete("key-2");
  t.equal(await reasonOf(verify(token)), "TOKEN_INVALID");
});

test("only HS256 with a known key, from this issuer, for this audience, with all claims, is accepted", async (t) => {
  const key = { alg: "HS256", kid: "key-1" };
  const all = { iss: "hostplane", aud: "hostplane", sub: "a-1", jti: "s-1", iat: 1, exp: 4e9 };
  const sign = (payload: object, header: { alg: string }, by: Uint8Array = secret) =>
    new SignJWT({ ...payload }).setProtectedHeader(header).sign(by);
  t.match(await tokens.verify(await sign(all, key)), { sessionId: "s-1" }, "this one is valid");

  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const body = `${part({ alg: "HS256", kid: "key-1", crit: ["x"], x: 1 })}.${part(all)}`;
  const { jti: _jti, ...withoutId } = all;
  const { exp: _exp, ...withoutEnd } = all;
  const bad: Readonly<Record<string, string>> = {
    "no signature": `${part({ alg: "none", kid: "key-1" })}.${part(all)}.`,
    "another hash": await sign(all, { ...key, alg: "HS512" }, randomBytes(64)),
    "another kind of key": await new SignJWT(all)
      .setProtectedHeader({ ...key, alg: "RS256" })
      .sign(privateKey),
    "another secret": await sign(all, key, randomBytes(32)),
    "an unknown key": await sign(all, { ...key, kid: "key-9" } as never),
    "no key": await sign(all, { alg: "HS256" }),
    "another issuer": await sign({ ...all, iss: "data-control-center" }, key),
    "another audience": await sign({ ...all, aud: "another" }, key),
    "no id": await sign(withoutId, key),
    "no end": await sign(withoutEnd, key),
    "an id that is not a string": await sign({ ...all, jti: 7 }, key),
    "an unknown critical header": `${body}.${createHmac("sha256", secret).update(body).digest("base64url")}`,
    "too long": await sign({ ...all, x: "x".repeat(2000) }, key),
  };
  for (const [name, token] of Object.entries(bad)) {
    t.equal(await reasonOf(verify(token)), "TOKEN_INVALID", name);
  }
});

test("any modified token and any other text is refused with a reason", async () => {
  const token = await tokens.sign(claims());
  await tokens.verify(token);
  const characters = fc.constantFrom(..."ABCxyz019-_.=, \u0000\u20ac");
  const changed = fc
    .tuple(fc.nat(token.length - 1), characters)
    .map(([at, character]) => token.slice(0, at) + character + token.slice(at + 1))
    // The last character of a base64url text has unused bits.
    .filter((text) => text.slice(0, -1) !== token.slice(0, -1));
  const parts = fc.array(
    fc.base64String().map((text) => text.replace(/=+$/, "")),
    { maxLength: 4 },
  );
  const json = fc.tuple(fc.json(), fc.json()).map((pair) => pair.map(base64url).concat("AAAA").join("."));
  const any = fc.oneof(
    changed,
    fc.string(),
    parts.map((list) => list.join(".")),
    json,
  );
  await fc.assert(
    fc.asyncProperty(any, async (text) => (await reasonOf(verify(text))) === "TOKEN_INVALID"),
    { numRuns: 500 },
  );
});

function base64url(text: string): string {
  return Buffer.from(text).toString("base64url");
}

test("tokens in memory are bounded", async (t) => {
  const many = createSessionTokens({ audience: "hostplane", secretOf });
  const first = await many.sign(claims());
  await many.verify(first);
  for (let index = 0; index < 10_001; index++) {
    await many.verify(await many.sign({ ...claims(), sessionId: `s-${index}` }));
  }
  t.ok(await many.verify(first), "a token that was evicted is verified again");
});
