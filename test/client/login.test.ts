import { test } from "tap";
import { createHostplaneClient, describeError } from "../../client/client.ts";
import { adminPassword, startGatewayUnderTest } from "../server/harness/gateway-under-test.ts";

/** Wraps `fetch` and counts the calls of each method. */
function countedFetch() {
  const methods: string[] = [];
  const counted: typeof fetch = (input, init) => {
    methods.push(String(input).split("/").at(-1) ?? "");
    return fetch(input, init);
  };
  return { counted, count: (method: string) => methods.filter((each) => each === method).length };
}

const reasonOf = (error: unknown) => describeError(error).reason;

test("a kept login is renewed before it expires, once for all callers, without delaying any of them", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true, tokenHours: 1 });
  const { counted, count } = countedFetch();
  let authorization = "";
  const client = createHostplaneClient({
    baseUrl: url,
    fetch: (input, init) => {
      authorization = new Headers(init?.headers).get("authorization") ?? authorization;
      return counted(input, init);
    },
  });
  await client.login("admin", adminPassword, { keepLogin: true });
  let calls = 0;
  const callThrice = () => {
    calls += 3;
    return Promise.all([1, 2, 3].map(() => client.users.getCaller({})));
  };
  await callThrice();
  t.equal(count("Login"), 1);

  const { now } = Date;
  t.teardown(() => {
    Date.now = now;
  });
  Date.now = () => now() + 55 * 60_000;
  await callThrice();
  const before = authorization;
  t.equal(count("Login"), 2);
  Date.now = now;
  while (authorization === before) {
    await callThrice();
  }
  t.equal(count("Login"), 2);
  t.equal(count("GetCaller"), calls, "no call was rejected and retried");
});

test("a login that was ended elsewhere is renewed once for all rejected calls, and these are retried", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const { counted, count } = countedFetch();
  let authorization = "";
  const client = createHostplaneClient({
    baseUrl: url,
    fetch: (input, init) => {
      authorization = new Headers(init?.headers).get("authorization") ?? authorization;
      return counted(input, init);
    },
  });
  await client.login("admin", adminPassword, { keepLogin: true });
  await client.users.getCaller({});
  const other = createHostplaneClient({ baseUrl: url });
  await other.auth.logout({}, { headers: { authorization } });

  const callers = await Promise.all([1, 2, 3, 4].map(() => client.users.getCaller({})));
  t.same(new Set(callers.map(({ actor }) => actor)), new Set(["user/admin"]));
  t.equal(count("Login"), 2);
});

test("a login survives a rotation of the signing key, and ends when the password is changed", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const { counted, count } = countedFetch();
  const client = createHostplaneClient({ baseUrl: url, fetch: counted });
  await client.login("admin", adminPassword, { keepLogin: true });
  await client.users.rotateSigningKey({});
  t.equal((await client.users.getCaller({})).actor, "user/admin");

  await client.users.createUser({ name: "alice", password: "alice's password", role: 2 });
  const alice = createHostplaneClient({ baseUrl: url, fetch: counted });
  await alice.login("alice", "alice's password", { keepLogin: true });
  await client.users.setPassword({ name: "alice", password: "another password" });
  const before = count("Login");
  t.equal(await alice.users.getCaller({}).catch(reasonOf), "INVALID_CREDENTIALS");
  t.equal(await alice.users.getCaller({}).catch(reasonOf), "TOKEN_REVOKED");
  t.equal(count("Login") - before, 1, "a rejected password is not tried again");
});

test("a wrong current password does not end the login, and is not sent twice", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const { counted, count } = countedFetch();
  const client = createHostplaneClient({ baseUrl: url, fetch: counted });
  await client.login("admin", adminPassword, { keepLogin: true });
  const wrong = { currentPassword: "not the password", newPassword: "another password" };
  t.equal(await client.users.changePassword(wrong).catch(reasonOf), "INVALID_CREDENTIALS");
  t.equal((await client.users.getCaller({})).actor, "user/admin");
  t.same([count("ChangePassword"), count("Login")], [1, 1]);

  const stream = client.watch(async function* (options) {
    yield await client.auth.login({ username: "admin", password: "wrong" }, options);
  });
  t.equal(await stream[Symbol.asyncIterator]().next().then(String, reasonOf), "INVALID_CREDENTIALS");
  t.equal(count("Login"), 2, "the stream is not reopened");
});

test("without keepLogin no credentials are kept, and a rejected call fails", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true, tokenHours: 1 / 3600 });
  const { counted, count } = countedFetch();
  const client = createHostplaneClient({ baseUrl: url, fetch: counted });
  t.equal(await client.login("admin", "not the password").catch(reasonOf), "INVALID_CREDENTIALS");
  await client.login("admin", adminPassword);
  let reason = "";
  while (reason === "") {
    reason = await client.users.getCaller({}).then(() => "", reasonOf);
  }
  t.equal(reason, "TOKEN_EXPIRED");
  t.equal(count("Login"), 2);
});

test("a token function is called before each call, and again when its token is rejected", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const admin = createHostplaneClient({ baseUrl: url });
  await admin.login("admin", adminPassword);
  const { token } = await admin.users.createApiToken({ name: "job", role: 1 });

  const given = ["hpt_wrong", token, token, "hpt_wrong", "hpt_wrong", undefined];
  const { counted, count } = countedFetch();
  const client = createHostplaneClient({ baseUrl: url, fetch: counted, token: async () => given.shift() });
  t.match((await client.users.getCaller({})).actor, /job/);
  t.match((await client.users.getCaller({})).actor, /job/);
  t.equal(count("GetCaller"), 3);
  t.equal(await client.users.getCaller({}).catch(reasonOf), "TOKEN_INVALID");
  t.equal(count("GetCaller"), 4, "the same token is not sent twice");
  t.equal(await client.users.getCaller({}).catch(reasonOf), "LOGIN_REQUIRED");
});

test("logout ends the login, and does nothing without one", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const admin = createHostplaneClient({ baseUrl: url });
  await admin.login("admin", adminPassword);
  const { token } = await admin.users.createApiToken({ name: "job", role: 1 });
  const client = createHostplaneClient({ baseUrl: url, token });
  await client.login("admin", adminPassword, { keepLogin: true });
  t.equal((await client.users.getCaller({})).actor, "user/admin");
  await client.logout();
  t.match((await client.users.getCaller({})).actor, /job/, "the client's own token is used again");
  await createHostplaneClient({ baseUrl: url }).logout();
});

test("on a page the token is only in a cookie, and is renewed as well", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true, tokenHours: 3 / 3600 });
  // What a browser does with the cookies of a page on the gateway's origin.
  let cookie = "";
  const seen: string[] = [];
  const page: typeof fetch = async (input, init) => {
    const headers = new Headers(init?.headers);
    seen.push(headers.get("authorization") ?? "");
    headers.set("cookie", cookie);
    headers.set("origin", url);
    const response = await fetch(input, { ...init, headers });
    const [set] = response.headers.getSetCookie();
    if (set !== undefined) {
      cookie = set.includes("Max-Age=0") ? "" : set.slice(0, set.indexOf(";"));
    }
    return response;
  };
  const client = createHostplaneClient({ baseUrl: url, session: "cookie", fetch: page });
  await client.login("admin", adminPassword, { keepLogin: true });
  const first = cookie;
  while (cookie === first) {
    await client.users.getCaller({});
  }
  t.same(new Set(seen), new Set([""]), "no script can read it");
  await client.logout();
  t.equal(cookie, "");
  t.equal(await client.users.getCaller({}).catch(reasonOf), "LOGIN_REQUIRED");
});
