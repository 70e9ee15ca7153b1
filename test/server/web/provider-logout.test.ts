import { mkdtemp, rm } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { type Test, test } from "tap";
import { AuditService } from "../../../gen/hostplane/v1/audit_pb.ts";
import { EventService } from "../../../gen/hostplane/v1/event_pb.ts";
import { LoginService } from "../../../gen/hostplane/v1/login_pb.ts";
import { UserService } from "../../../gen/hostplane/v1/user_pb.ts";
import { providerConfig } from "../domains/auth/providers/logins-under-test.ts";
import { freePort } from "../harness/free-port.ts";
import { startGatewayUnderTest } from "../harness/gateway-under-test.ts";
import { createFormBrowser, logoutClaims, startProviderUnderTest } from "../harness/provider-under-test.ts";
import { rpcErrorOf } from "../harness/rpc-error.ts";

async function serve(t: Test) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const logoutUrl = `${url}/oidc/corp/backchannel-logout`;
  const provider = await startProviderUnderTest(t, {
    redirectUrls: [`${url}/oidc/corp/callback`],
    logoutUrl,
  });
  const auth = { publicUrl: url, providers: [await providerConfig(t, provider)] };
  const directory = await mkdtemp(join(tmpdir(), "hostplane-logout-"));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  const socketPath = join(directory, "socket");
  const listen = [{ address: `127.0.0.1:${port}` }, { address: `unix:${socketPath}` }];
  const { log } = await startGatewayUnderTest(t, { auth, listen }, { hasLogin: true });
  const transport = createConnectTransport({ baseUrl: url, httpVersion: "1.1" });
  /** Logs in by a device login, and returns a transport with the token. */
  async function logIn(name: string) {
    const logins = createClient(LoginService, transport);
    const { loginHandle, verificationUriComplete } = await logins.beginDeviceLogin({ provider: "corp" });
    t.match(await rpcErrorOf(logins.finishDeviceLogin({ loginHandle })), { reason: "LOGIN_PENDING" });
    await createFormBrowser(provider.issuer).confirmDevice(verificationUriComplete, name);
    const { token } = await logins.finishDeviceLogin({ loginHandle });
    return createConnectTransport({
      baseUrl: url,
      httpVersion: "1.1",
      interceptors: [
        (next) => (request) => {
          request.header.set("authorization", `Bearer ${token}`);
          return next(request);
        },
      ],
    });
  }
  return { provider, logoutUrl, socketPath, logIn, log };
}

async function readAll(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const _message of stream) {
    // Until the stream ends.
  }
}

test("a logout at the provider ends the streams of that user, and of no other", async (t) => {
  const { provider, logIn } = await serve(t);
  const ofAlice = await logIn("alice");
  const ofBob = await logIn("bob");
  const stream = createClient(EventService, ofAlice).subscribe({});
  const ended = rpcErrorOf(readAll(stream));
  await provider.logOut("alice");
  t.match(await ended, { reason: "TOKEN_REVOKED" });
  t.match(await createClient(UserService, ofBob).getCaller({}), { actor: "user/bob@corp" });
});

test("anything but a logout token is refused, and nothing of it reaches the log", async (t) => {
  const { logoutUrl, log } = await serve(t);
  const post = (body: string, url = logoutUrl) =>
    fetch(url, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body,
    });
  const cases: Readonly<Record<string, string>> = {
    "an empty body": "",
    "another form": "token=x",
    "no token": "logout_token=",
    "no JWT": "logout_token=nonsense",
    "more than 16 KiB": `logout_token=${"x".repeat(20_000)}`,
  };
  for (const [why, body] of Object.entries(cases)) {
    const response = await post(body);
    t.match([response.status, response.headers.get("cache-control")], [400, "no-store"], why);
    t.match(await response.json(), { error: "invalid_request" }, why);
  }
  const unknown = await post("logout_token=nonsense", logoutUrl.replace("corp", "other"));
  t.equal(unknown.status, 400);
  t.notMatch(JSON.stringify(log), /nonsense|xxxxxxxx/);
});

test("a proxy may pass a logout on through a unix socket", async (t) => {
  const { provider, socketPath, logIn } = await serve(t);
  const ofAlice = createClient(UserService, await logIn("alice"));
  const logoutToken = await provider.sign({ ...logoutClaims(provider), sub: "alice" });
  const status = await new Promise((resolve, reject) => {
    const sent = request(
      {
        socketPath,
        method: "POST",
        path: "/oidc/corp/backchannel-logout",
        headers: { "content-type": "application/x-www-form-urlencoded" },
      },
      (response) => resolve(response.resume().statusCode),
    );
    sent.once("error", reject);
    sent.end(new URLSearchParams({ logout_token: logoutToken }).toString());
  });
  t.equal(status, 200);
  t.match(await rpcErrorOf(ofAlice.getCaller({})), { reason: "TOKEN_REVOKED" });
});

test("the audit log has each login by a provider, and neither its pending calls nor its secrets", async (t) => {
  const { logIn, log } = await serve(t);
  const { events } = await createClient(AuditService, await logIn("alice")).listEvents({});
  const logins = events.filter(({ rpc }) => rpc.startsWith("hostplane.v1.LoginService/"));
  t.match(
    logins.map(({ actor, rpc, reason }) => [actor, rpc, reason]),
    [["user/alice@corp", "hostplane.v1.LoginService/FinishDeviceLogin", ""]],
  );
  t.equal(logins.length, 1);
  t.notMatch(JSON.stringify(log), /eyJ/, "no token in the log");
});
