import { createClient } from "@connectrpc/connect";
import { test } from "tap";
import { AuditService } from "../../../gen/hostplane/v1/audit_pb.ts";
import { Role, UserService } from "../../../gen/hostplane/v1/user_pb.ts";
import { AuthService } from "../../../gen/services/auth/auth_pb.ts";
import { methodPathOf } from "../../../server/rpc/call/method-rule.ts";
import { registerRefusal } from "../../../server/rpc/call/service-handlers.ts";
import { restRoutes } from "../../../server/rpc/protocols/rest/routes.ts";
import { readContractServices } from "../harness/contract-services.ts";
import { adminPassword, startGatewayUnderTest } from "../harness/gateway-under-test.ts";
import { type Protocol, protocols } from "../harness/protocols.ts";

const [connectJson] = protocols as readonly [Protocol];
const contract = await readContractServices();
const routes = restRoutes(
  contract.map((service) => registerRefusal(service, () => new TypeError("not called"))),
);

const admin = { username: "admin", password: adminPassword };

async function logIn(url: string) {
  const auth = createClient(AuthService, connectJson.createTransport(url));
  const { token } = await auth.login(admin);
  const headers = { authorization: `Bearer ${token}` };
  return { token, headers, transport: connectJson.createTransport(url, { headers }) };
}

/** Returns the status of an answer, with its reason if it is an error. */
async function reasonOf(answer: Response): Promise<string> {
  const { details } = (await answer.json()) as { details?: readonly { reason: string }[] };
  return details === undefined ? String(answer.status) : `${answer.status} ${details[0]?.reason}`;
}

test("every route of the contract reaches its method for callers with permission", async (t) => {
  const { url, log } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const { headers } = await logIn(url);
  for (const { method, httpMethod, template } of routes) {
    const name = `${httpMethod} ${template.text}`;
    const stranger = await fetch(url + template.text, { method: httpMethod });
    t.equal(await reasonOf(stranger), "401 LOGIN_REQUIRED", name);
    t.equal(stranger.headers.get("www-authenticate"), "Bearer");
    const answer = await fetch(url + template.text, { method: httpMethod, headers });
    await answer.arrayBuffer();
    t.not(answer.status, 401, name);
    t.equal(answer.headers.get("cache-control"), "no-store");
    const line = log.findLast(({ msg }) => msg === "call");
    t.match(line, { rpc: methodPathOf(method), protocol: "rest", caller: "user/admin" }, name);
  }
  t.ok(routes.length > 0);
});

test("a route requires the same role as its RPC", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const { transport } = await logIn(url);
  const { token } = await createClient(UserService, transport).createApiToken({
    name: "v",
    role: Role.VIEWER,
  });
  const headers = { authorization: `Bearer ${token}` };
  const list = await fetch(`${url}/api/v1/cluster/list`, { headers });
  t.equal(list.status, 200);
  // GetCluster returns a kubeconfig.
  for (const [method, path] of [
    ["GET", "/api/v1/cluster?name=blue"],
    ["POST", "/api/v1/cluster"],
    ["DELETE", "/api/v1/cluster?name=blue"],
  ] as const) {
    t.equal(await reasonOf(await fetch(url + path, { method, headers })), "403 ROLE_REQUIRED", path);
  }
});

test("a change is in the audit log; if repeated with its key, the first answer is returned", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const { headers, transport } = await logIn(url);
  const keyed = { ...headers, "idempotency-key": "key-1" };
  const create = (name: string) =>
    fetch(`${url}/api/v1/cluster`, {
      method: "POST",
      headers: keyed,
      body: JSON.stringify({
        name,
        k8s_version: "1.35.4",
        control_plane_nodes: { instanceType: "standard", count: 1 },
      }),
    });
  const [first, second, other] = [await create("a"), await create("a"), await create("b")];
  t.equal(second.status, first.status);
  t.same(await second.json(), await first.json());
  t.equal(first.headers.get("hostplane-idempotent-replay"), null);
  t.equal(second.headers.get("hostplane-idempotent-replay"), "true");
  t.equal(await reasonOf(other), "400 IDEMPOTENCY_KEY_REUSED");
  const rpc = "cnct.kaas.api.Cluster/CreateCluster";
  const { events } = await createClient(AuditService, transport).listEvents({ rpc });
  t.match(events.at(-1), {
    rpc,
    actor: "user/admin",
    request: /^\{"name":"a",/,
  });
  t.equal(events.length, 3);
});

test("an unknown gateway header is refused", async (t) => {
  const { url } = await startGatewayUnderTest(t);
  const headers = { "hostplane-dry-run": "true" };
  t.equal(await reasonOf(await fetch(`${url}/api/v1/version`, { headers })), "400 UNKNOWN_HEADER");
});

test("a listener without the service refuses its routes", async (t) => {
  const { url } = await startGatewayUnderTest(t, {
    listen: [{ address: "127.0.0.1:0", services: ["proto.VGService"] }],
  });
  t.equal(await reasonOf(await fetch(`${url}/api/v1/version`)), "501 SERVICE_NOT_ON_LISTENER");
});

test("REST calls count towards the caller's limits and in the metrics", async (t) => {
  const limits = { caller: { requestsPerSecond: 1 } };
  const { url } = await startGatewayUnderTest(t, { limits }, { hasLogin: true });
  const { headers } = await logIn(url);
  const reasons = [];
  for (let count = 0; count < 6; count++) {
    reasons.push(await reasonOf(await fetch(`${url}/api/v1/cluster/list`, { headers })));
  }
  t.ok(reasons.includes("429 CALLER_LIMIT"), reasons.join(", "));
  const metrics = await (await fetch(`${url}/metrics`, { headers })).text();
  t.match(
    metrics,
    /hostplane_rpc_duration_seconds_count\{rpc="cnct.kaas.api.Cluster\/GetClusterList",protocol="rest"/,
  );
});

test("a page from a listed origin may use every verb of the routes", async (t) => {
  const origin = "http://localhost:5173";
  const { url } = await startGatewayUnderTest(t, { cors: { origins: [origin] } });
  for (const method of ["GET", "POST", "PUT", "DELETE"]) {
    const answer = await fetch(`${url}/api/v1/cluster/pool`, {
      method: "OPTIONS",
      headers: { origin, "access-control-request-method": method },
    });
    t.equal(answer.headers.get("access-control-allow-origin"), origin);
    const methods = answer.headers.get("access-control-allow-methods")?.split(/, */) ?? [];
    t.ok(methods.includes(method), method);
  }
});

test("a session cookie is only accepted from the gateway's own pages", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  let cookie = "";
  const wantsCookie = connectJson.createTransport(url, { headers: { "hostplane-session": "cookie" } });
  await createClient(AuthService, wantsCookie).login(admin, {
    onHeader: (header) => {
      cookie = header.get("set-cookie")?.split(";")[0] ?? "";
    },
  });
  const send = async (method: string, path: string, headers: Readonly<Record<string, string>>) =>
    reasonOf(await fetch(url + path, { method, headers: { cookie, ...headers } }));
  t.equal(await send("GET", "/api/v1/cluster/list", {}), "200");
  t.equal(await send("DELETE", "/api/v1/cluster?name=a", { origin: url }), "404 CLUSTER_NOT_FOUND");
  const refused = "403 ORIGIN_NOT_ALLOWED";
  t.equal(await send("GET", "/api/v1/cluster?name=a", { "sec-fetch-site": "cross-site" }), refused);
  t.equal(await send("POST", "/api/v1/cluster", { "content-type": "text/plain", origin: url }), refused);
});
