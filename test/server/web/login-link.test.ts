import { test } from "tap";
import { startGatewayUnderTest } from "../harness/gateway-under-test.ts";

const page = { redirect: "manual" } as const;

test("the link of a sandbox logs a browser in once", async (t) => {
  const { url, gateway, log } = await startGatewayUnderTest(t, {}, { hasLogin: true, logLevel: "trace" });
  const path = (await gateway.sandboxLoginPath()) ?? "";
  t.match(path, /^\/login\/[\w-]{24}$/);

  t.equal((await fetch(`${url}${path}`, { ...page, method: "HEAD" })).status, 404, "HEAD does not use it up");
  const answer = await fetch(`${url}${path}`, page);
  t.equal(answer.status, 303);
  t.equal(answer.headers.get("location"), "/");
  t.equal(answer.headers.get("referrer-policy"), "no-referrer");
  const [cookie = ""] = answer.headers.getSetCookie();
  t.match(cookie, /^hostplane_session=\S+; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict$/);

  const caller = await fetch(`${url}/hostplane.v1.UserService/GetCaller`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      cookie: cookie.split(";")[0] ?? "",
      origin: url,
      "sec-fetch-site": "same-origin",
    },
    body: "{}",
  });
  t.match(await caller.json(), { actor: "user/admin" });

  const again = await fetch(`${url}${path}`, page);
  t.equal(again.status, 410);
  t.same(again.headers.getSetCookie(), []);
  t.match(await again.text(), /Log in with a password/);
  t.equal((await fetch(`${url}/login/guessed`, page)).status, 410);
  const code = path.split("/").at(-1) ?? "";
  t.notOk(JSON.stringify(log).includes(code), "the log does not have the code");
});

test("a removed admin has no link", async (t) => {
  const { gateway, url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const token = await gateway.sandboxToken();
  const call = (method: string, body: object) =>
    fetch(`${url}/hostplane.v1.UserService/${method}`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
      body: JSON.stringify(body),
    });
  const path = await gateway.sandboxLoginPath();
  const other = { name: "other", role: "ROLE_ADMIN", password: "a long enough password" };
  t.equal((await call("CreateUser", other)).status, 200);
  t.equal((await call("DeleteUser", { name: "admin" })).status, 200);
  t.equal(await gateway.sandboxLoginPath(), undefined);
  t.equal((await fetch(`${url}${path}`, page)).status, 410, "nor does an earlier link log in");
});

test("a real gateway has no links", async (t) => {
  const pods = { podman: { socket: "/nonexistent/podman.sock" } };
  const { url, gateway } = await startGatewayUnderTest(t, { pods }, { hasLogin: true });
  t.equal(await gateway.sandboxLoginPath(), undefined);
  t.equal((await fetch(`${url}/login/x`, page)).status, 404);
});
