import { test } from "tap";
import { logIn, startFleetUnderTest } from "./fleet-under-test.ts";

const json = { "content-type": "application/json" };

interface Request {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

async function call(url: string, { method = "POST", headers = {}, body = "{}" }: Request = {}) {
  const response = await fetch(url, {
    method,
    headers: { ...json, ...headers },
    ...(method === "POST" ? { body } : {}),
  });
  const text = await response.text();
  const detail = /"reason":"([A-Z_]+)"/.exec(text)?.[1];
  return { status: response.status, headers: response.headers, text, reason: detail };
}

test("each call goes to the host that it names, and to no other", async (t) => {
  const fleet = await startFleetUnderTest(t, ["node-1", "node-2"]);
  const { authorization } = fleet;
  const { url } = fleet.hub;
  const create = "proto.LVService/CreateLV";
  const list = "proto.VGService/GetLVList";
  const to = (host: string) => ({ headers: { authorization, "hostplane-host": host } });
  const body = JSON.stringify({ name: "mine", sizeGb: "1" });

  const created = await call(`${url}/${create}`, { ...to("node-2"), body });
  t.match(created, { status: 200 });
  t.equal(created.headers.get("hostplane-host"), "node-2");
  t.equal(created.headers.get("hostplane-outcome"), null);
  t.notMatch((await call(`${url}/${list}`, to("node-1"))).text, /mine/);
  t.match((await call(`${url}/hosts/node-2/${list}`, { headers: { authorization } })).text, /mine/);

  const refusals: readonly (readonly [path: string, request: Request, reason: string])[] = [
    [list, { headers: { authorization } }, "HOST_REQUIRED"],
    [create, { headers: { authorization }, body }, "HOST_REQUIRED"],
    [list, to("node-3"), "HOST_UNKNOWN"],
    [list, to("node-1,node-2"), "HOST_NAME_INVALID"],
    [`hosts/node-1/${list}`, to("node-2"), "HOST_NAME_INVALID"],
    [`hosts/%2e%2e%2f/${list}`, { headers: { authorization } }, "HOST_NAME_INVALID"],
    [`hosts//${list}`, { headers: { authorization } }, "HOST_NAME_INVALID"],
    ["services.auth.AuthService/Login", to("node-1"), "NOT_ON_HOSTS"],
    ["hosts/node-1/hostplane.v1.UserService/ListUsers", { headers: { authorization } }, "NOT_ON_HOSTS"],
    [list, { headers: { "hostplane-host": "node-3" } }, "LOGIN_REQUIRED"],
    [list, {}, "LOGIN_REQUIRED"],
    ["hosts/node-1/proto.Newer/Call", {}, "LOGIN_REQUIRED"],
    ["hosts/node-1/proto.Newer/Call", { headers: { authorization } }, "METHOD_NOT_FOUND"],
  ];
  for (const [path, request, reason] of refusals) {
    t.equal((await call(`${url}/${path}`, request)).reason, reason, `${path}: ${reason}`);
  }
  t.match((await call(`${url}/${list}`, { headers: { authorization } })).text, /node-1, node-2/);
  t.match((await call(`${url}/${list}`, to("node-3"))).text, /node-1, node-2/);

  for (const page of ["", "docs", "metrics", "healthz", "openapi.json", "a/b/c"]) {
    const answer = await call(`${url}/hosts/node-1/${page}`, { method: "GET", headers: { authorization } });
    t.match(answer, { status: 404, text: "not found\n" }, page);
  }
  const unknown = await call(`${url}/hosts/node-1/proto.Newer/Call`, {
    method: "GET",
    headers: { authorization },
  });
  t.match(unknown, { status: 404, reason: "METHOD_NOT_FOUND" });
  t.match(await call(`${url}/hosts/node-1/${list}`, { method: "PUT", headers: { authorization } }), {
    status: 405,
  });
  const wrongType = { headers: { authorization, "content-type": "text/plain" } };
  t.match(await call(`${url}/hosts/node-1/${list}`, wrongType), { status: 415 });

  const { hosts } = fleet;
  hosts.set("node-1", hosts.find("node-1")?.link, new Set());
  t.equal(
    (await call(`${url}/${list}`, { headers: { authorization } })).headers.get("hostplane-host"),
    "node-2",
  );
  fleet.link("node-2").cut();
  const lost = await call(`${url}/${create}`, { ...to("node-2"), body });
  t.match(lost, { status: 503, reason: "HOST_UNREACHABLE" });
});

test("a gateway that is not a hub supports neither the header nor the path", async (t) => {
  const fleet = await startFleetUnderTest(t);
  const { url } = fleet.agent("node-1");
  const path = "proto.VGService/GetLVList";
  const { authorization } = fleet;
  const { status, text } = await call(`${url}/hosts/node-1/${path}`, { headers: { authorization } });
  t.match({ status, text }, { status: 404, text: "not found\n" });
  const { token } = JSON.parse(
    (
      await call(`${url}/services.auth.AuthService/Login`, {
        body: JSON.stringify({ username: "admin", password: "the admin of a test" }),
      })
    ).text,
  );
  const own = { authorization: `Bearer ${token}`, "hostplane-host": "node-1" };
  t.equal((await call(`${url}/${path}`, { headers: own })).reason, "UNKNOWN_HEADER");
});

test("hub and host audit a change, the hub with the outcome that the host reports", async (t) => {
  const { hub, authorization, agent } = await startFleetUnderTest(t);
  const headers = { authorization, "hostplane-host": "node-1" };
  const create = (name: string) =>
    call(`${hub.url}/proto.LVService/CreateLV`, { headers, body: JSON.stringify({ name, sizeGb: "1" }) });
  t.match(await create("audited"), { status: 200 });
  t.match(await create("audited"), { reason: "VOLUME_EXISTS" });
  const list = "hostplane.v1.AuditService/ListEvents";
  const rows = JSON.parse((await call(`${hub.url}/${list}`, { headers: { authorization } })).text).events;
  const ofCreate = rows.filter(({ rpc }: { readonly rpc: string }) => rpc === "proto.LVService/CreateLV");
  const resource = /audited$/;
  t.match(ofCreate, [
    { actor: "user/admin", host: "node-1", outcome: "ALREADY_EXISTS", reason: "VOLUME_EXISTS", resource },
    { actor: "user/admin", host: "node-1", outcome: "OK", resource },
  ]);
  t.notMatch(ofCreate, [{ request: /./ }], "only the host records requests");
  const host = agent("node-1").url;
  const ofHost = { headers: { authorization: await logIn(host) } };
  const atHost = JSON.parse((await call(`${host}/${list}`, ofHost)).text);
  t.match(
    atHost.events.filter(({ rpc }: { readonly rpc: string }) => rpc === "proto.LVService/CreateLV"),
    [{ outcome: "ALREADY_EXISTS" }, { actor: "user/admin via hub-1", outcome: "OK", request: /audited/ }],
  );
  const line = hub.log.find(({ rpc, code }) => rpc === "proto.LVService/CreateLV" && code === "OK");
  t.match(line, { fleetHost: "node-1", resource, caller: "user/admin" });
  t.ok(agent("node-1").log.some(({ caller }) => caller === "user/admin via hub-1"));
});
