import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { test } from "tap";
import { Role, UserService } from "../../../../../gen/hostplane/v1/user_pb.ts";
import { isApiToken } from "../../../../../server/domains/auth/tokens/api-token-text.ts";
import { hashToken } from "../../../../../server/domains/auth/tokens/token-hash.ts";
import { errorOf, openAuthStore, startAuth } from "../auth-under-test.ts";

const asAdmin = { peer: { access: "adminSocket", address: "unix" } } as const;
const { method } = UserService;
const dayMs = 24 * 60 * 60 * 1000;

test("a token is returned once, and accepted until it is revoked", async (t) => {
  const store = await openAuthStore(t);
  const auth = await startAuth(t, store);
  const spec = { name: "ci", role: Role.OPERATOR, services: ["proto.VGService"] };
  const { message } = await auth.call(method.createApiToken, spec, asAdmin);
  const { token, apiToken } = message;
  t.ok(isApiToken(token));
  t.match(apiToken, { ...spec, createdBy: /admin/ });

  const headers = { authorization: `Bearer ${token}` };
  const caller = await auth.caller(headers);
  t.match(caller, { actor: "token/ci", role: "operator", accountId: apiToken?.accountId });

  const { message: listed } = await auth.call(method.listApiTokens, {}, asAdmin);
  t.same(
    listed.tokens.map(({ name }) => name),
    ["ci"],
  );
  t.notMatch(
    JSON.stringify(listed.tokens, (_, value) => String(value)),
    token,
  );

  await auth.call(method.revokeApiToken, { name: "ci" }, asAdmin);
  t.equal((await errorOf(auth.caller(headers)))?.reason, "TOKEN_REVOKED");
  t.equal((await errorOf((async () => caller.current())()))?.reason, "TOKEN_REVOKED");
  t.same((await auth.call(method.listApiTokens, {}, asAdmin)).message.tokens, []);
  t.equal(
    (await errorOf(auth.call(method.revokeApiToken, { name: "ci" }, asAdmin)))?.reason,
    "API_TOKEN_NOT_FOUND",
  );
});

test("the store contains only the hash", async (t) => {
  const store = await openAuthStore(t);
  const auth = await startAuth(t, store);
  const { token } = (await auth.call(method.createApiToken, { name: "ci", role: Role.VIEWER }, asAdmin))
    .message;
  const { apiTokens } = await store.run("auth.changes", { sinceVersion: 0 });
  const [row] = apiTokens;
  t.same(Buffer.from(row?.hash ?? []), hashToken(token));
  t.notMatch(JSON.stringify(row), token.slice(4, 20));
});

test("a name is in use until its token is revoked", async (t) => {
  const auth = await startAuth(t, await openAuthStore(t));
  const spec = { name: "ci", role: Role.VIEWER };
  const { message: first } = await auth.call(method.createApiToken, spec, asAdmin);
  t.equal((await errorOf(auth.call(method.createApiToken, spec, asAdmin)))?.reason, "API_TOKEN_EXISTS");
  await auth.call(method.revokeApiToken, { name: "ci" }, asAdmin);
  const { message: second } = await auth.call(method.createApiToken, spec, asAdmin);
  t.not(first.apiToken?.accountId, second.apiToken?.accountId, "the new token is a different account");
});

test("a token expires after its lifetime", async (t) => {
  const auth = await startAuth(t, await openAuthStore(t));
  const spec = { name: "ci", role: Role.VIEWER, lifetime: durationFromMs(1) };
  const { token, apiToken } = (await auth.call(method.createApiToken, spec, asAdmin)).message;
  t.ok(apiToken?.expiresAt);
  let reason: string | undefined;
  while (reason === undefined) {
    reason = (await errorOf(auth.caller({ authorization: `Bearer ${token}` })))?.reason;
  }
  t.equal(reason, "TOKEN_EXPIRED");
});

test("an invalid value is refused with its field", async (t) => {
  const auth = await startAuth(t, await openAuthStore(t));
  const good = { name: "ci", role: Role.VIEWER };
  for (const [wrong, field] of [
    [{ name: "" }, "name"],
    [{ name: ".ci" }, "name"],
    [{ name: "a".repeat(64) }, "name"],
    [{ role: Role.UNSPECIFIED }, "role"],
    [{ services: ["proto.Nothing"] }, "services"],
    [{ lifetime: durationFromMs(0) }, "lifetime"],
    [{ lifetime: durationFromMs(-dayMs) }, "lifetime"],
    [{ lifetime: durationFromMs(3651 * dayMs) }, "lifetime"],
  ] satisfies [object, string][]) {
    const error = await errorOf(auth.call(method.createApiToken, { ...good, ...wrong }, asAdmin));
    t.match(error, { reason: "INVALID_FIELD", violations: [{ field }] }, field);
  }
});
