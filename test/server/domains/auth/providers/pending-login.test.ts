import fc from "fast-check";
import { test } from "tap";
import { createSeal } from "../../../../../server/crypto/seal.ts";
import { createPendingLogins } from "../../../../../server/domains/auth/providers/pending-login.ts";
import { errorOf, masterKeys, reasonOf } from "../auth-under-test.ts";

const logins = createPendingLogins(createSeal(masterKeys, "pending-login"));
const checks = { state: "the state", nonce: "the nonce", codeVerifier: "the verifier" };

const reasonFor = (open: () => unknown) => reasonOf((async () => open())());

test("a login is opened with its provider and its state only", async (t) => {
  const sealed = logins.sealBrowser("corp", checks);
  t.match(logins.openBrowser(sealed, "corp", checks.state), checks);
  t.equal(await reasonFor(() => logins.openBrowser(sealed, "other", checks.state)), "LOGIN_NOT_BEGUN");
  t.equal(await reasonFor(() => logins.openBrowser(sealed, "corp", "another")), "LOGIN_NOT_BEGUN");
  t.equal(await reasonFor(() => logins.openBrowser(sealed, "corp", null)), "LOGIN_NOT_BEGUN");
  t.notMatch(Buffer.from(sealed, "base64url").toString("latin1"), checks.codeVerifier, "nothing is readable");
});

test("a login that took too long is refused", async (t) => {
  const device = logins.sealDevice("corp", "the code", Date.now() - 1);
  t.equal(await reasonFor(() => logins.openDevice(device)), "LOGIN_NOT_BEGUN");
  const error = await errorOf((async () => logins.openDevice(device))());
  t.match(error?.message, /took too long/);
});

test("a login of one type, or of another key, is not one of the other", async (t) => {
  const browser = logins.sealBrowser("corp", checks);
  const device = logins.sealDevice("corp", "the code", Date.now() + 60_000);
  t.match(logins.openDevice(device), { provider: "corp", deviceCode: "the code" });
  t.equal(await reasonFor(() => logins.openDevice(browser)), "LOGIN_NOT_BEGUN");
  t.equal(await reasonFor(() => logins.openBrowser(device, "corp", checks.state)), "LOGIN_NOT_BEGUN");
  const others = createPendingLogins(createSeal(masterKeys, "another purpose"));
  t.equal(
    await reasonFor(() => logins.openDevice(others.sealDevice("corp", "c", Infinity))),
    "LOGIN_NOT_BEGUN",
  );
});

test("any other text is refused", async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "binary" }), async (text) => {
      return (await reasonFor(() => logins.openBrowser(text, "corp", checks.state))) === "LOGIN_NOT_BEGUN";
    }),
  );
  t.equal(await reasonFor(() => logins.openBrowser("x".repeat(10_000), "corp", "s")), "LOGIN_NOT_BEGUN");
});
