import { setTimeout as delay } from "node:timers/promises";
import { createClient, type Transport } from "@connectrpc/connect";
import { test } from "tap";
import { AuditService } from "../../../gen/hostplane/v1/audit_pb.ts";
import { Role, UserService } from "../../../gen/hostplane/v1/user_pb.ts";
import { LVService } from "../../../gen/proto/lvmd_pb.ts";
import { AuthService } from "../../../gen/services/auth/auth_pb.ts";
import { openCutRelay } from "../../chaos/cut-relay.ts";
import { type EventStreamRequest, openEventStream } from "../harness/event-stream-client.ts";
import { adminPassword, startGatewayUnderTest } from "../harness/gateway-under-test.ts";
import { type Protocol, protocols } from "../harness/protocols.ts";
import type { ParsedEvent } from "../rpc/protocols/sse/event-parser.ts";

const [connectJson] = protocols as readonly [Protocol];
const httpVersions = ["1.1", "2"] as const;
const subscribePath = "/hostplane.v1.EventService/Subscribe";
const watchPath = "/proto.VGService/Watch";
const createPath = "/operations.v1.OperationsService/CreateHypervisor";
const logsPath = "/v1alpha.PublicAPI/GetLogs";
const admin = { username: "admin", password: adminPassword };

interface LoggedIn {
  readonly headers: Readonly<Record<string, string>>;
  readonly transport: Transport;
}

async function logIn(url: string): Promise<LoggedIn> {
  const { token } = await createClient(AuthService, connectJson.createTransport(url)).login(admin);
  const headers = { authorization: `Bearer ${token}` };
  return { headers, transport: connectJson.createTransport(url, { headers }) };
}

/** Returns the status of an answer, and the reason of a refusal. */
async function answerTo(url: string, request: EventStreamRequest): Promise<string> {
  const answer = await openEventStream(url, request);
  if (answer.status === 200) {
    answer.close();
    return "200";
  }
  const [, reason] = /"reason":"(\w+)"/.exec(await answer.text()) ?? [];
  return reason === undefined ? String(answer.status) : `${answer.status} ${reason}`;
}

/** Returns the type of an event and the name of its volume; undefined if it is not an event. */
function happened({ data }: ParsedEvent): string | undefined {
  const { event } = JSON.parse(data) as { event?: { type: string; volume: { name: string } } };
  return event === undefined ? undefined : `${event.type} ${event.volume.name}`;
}

for (const httpVersion of httpVersions) {
  test(`over HTTP/${httpVersion} a subscriber that is cut repeatedly misses nothing and gets nothing twice`, async (t) => {
    const { url } = await startGatewayUnderTest(t);
    const relay = await openCutRelay(t, url);
    const volumes = createClient(LVService, connectJson.createTransport(url));
    const count = 30;
    const expected = Array.from({ length: count }, (_, index) => [
      `volume.created v${index}`,
      `volume.removed v${index}`,
    ]).flat();

    const reported: string[] = [];
    let lastEventId = "";
    let connections = 0;
    /** Connects like a browser, with the same URL and the id of the last event received. */
    async function readUntilCut(): Promise<void> {
      const events = await openEventStream(relay.url, {
        httpVersion,
        path: `${subscribePath}?topics=volumes`,
        headers: lastEventId === "" ? {} : { "last-event-id": lastEventId },
      });
      connections++;
      for (let event = await events.next(); event !== undefined; event = await events.next()) {
        lastEventId = event.lastEventId;
        const what = happened(event);
        if (what !== undefined) {
          reported.push(what);
        }
        if (reported.length === expected.length) {
          events.close();
          return;
        }
      }
    }
    async function read(): Promise<void> {
      while (reported.length < expected.length) {
        await readUntilCut().catch(() => undefined);
      }
    }

    const first = await openEventStream(url, { path: `${subscribePath}?topics=volumes` });
    lastEventId = (await first.next())?.lastEventId ?? "";
    first.close();
    const reading = read();
    for (let index = 0; index < count; index++) {
      await volumes.createLV({ name: `v${index}`, sizeGb: 1n });
      await volumes.removeLV({ name: `v${index}` });
      if (index % 5 === 4) {
        relay.cut();
      }
    }
    await reading;
    t.same(reported, expected);
    t.ok(connections > 5, `${connections} connections`);
  });
}

test("a change reports its progress, and GET watches its operation from a cursor on", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const { headers, transport } = await logIn(url);
  for (const [httpVersion, id] of [
    ["1.1", "sandbox-hv-2"],
    ["2", "sandbox-hv-3"],
  ] as const) {
    const body = JSON.stringify({ id });
    const events = await openEventStream(url, { httpVersion, path: createPath, headers, body });
    t.equal(events.headers["hostplane-backend"], "sandbox");
    const operationId = String(events.headers["hostplane-operation"]);
    const reported = await events.until(({ type }) => type === "end");
    t.ok(reported.length > 3, `${reported.length} events`);
    const states = reported.slice(0, -1).map(({ data }) => JSON.parse(data).state);
    t.equal(states.at(-1), "OPERATION_STATE_COMPLETED");

    const path = `/hostplane.v1.OperationService/WatchOperation?id=${operationId}`;
    const watched = await openEventStream(url, { httpVersion, path, headers });
    const [state] = await watched.until(({ type }) => type === "end");
    t.match(JSON.parse(state?.data ?? ""), { operation: { id: operationId }, cursor: state?.lastEventId });
    const again = { ...headers, "last-event-id": state?.lastEventId ?? "" };
    const behind = await openEventStream(url, { httpVersion, path, headers: again });
    t.equal((await behind.until(({ type }) => type === "end")).length, 2, "its last state, and its end");
  }
  const rpc = "operations.v1.OperationsService/CreateHypervisor";
  const { events } = await createClient(AuditService, transport).listEvents({ rpc });
  t.match(events, [
    { actor: "user/admin", request: '{"id":"sandbox-hv-3"}', outcome: "OK" },
    { actor: "user/admin", request: '{"id":"sandbox-hv-2"}', outcome: "OK" },
  ]);
});

test("roles apply, and secrets are only returned by POST", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const { headers: ofAdmin, transport } = await logIn(url);
  const tokenOf = async (name: string, role: Role) => {
    const { token } = await createClient(UserService, transport).createApiToken({ name, role });
    return { authorization: `Bearer ${token}` };
  };
  const viewer = await tokenOf("v", Role.VIEWER);
  const operator = await tokenOf("o", Role.OPERATOR);
  const logs = { path: logsPath, body: '{"podId": "none"}' };
  for (const httpVersion of httpVersions) {
    const query = (request: EventStreamRequest) => answerTo(url, { httpVersion, ...request });
    t.equal(await query({ path: watchPath }), "401 LOGIN_REQUIRED");
    t.equal(await query({ path: watchPath, headers: viewer }), "200");
    t.equal(await query({ path: createPath, body: "{}", headers: viewer }), "403 ROLE_REQUIRED");
    t.equal(await query({ path: createPath, body: "{}", headers: operator }), "400 INVALID_FIELD");
    t.equal(await query({ ...logs, headers: viewer }), "403 ROLE_REQUIRED");
    t.equal(await query({ ...logs, headers: operator }), "404 POD_NOT_FOUND");
    t.equal(await query({ path: `${logsPath}?podId=none`, headers: ofAdmin }), "405");
    t.equal(await query({ path: `${watchPath}x`, headers: ofAdmin }), "404 METHOD_NOT_FOUND");
    const unknown = { ...ofAdmin, "hostplane-dry-run": "true" };
    t.equal(await query({ path: watchPath, headers: unknown }), "400 UNKNOWN_HEADER");
  }
});

async function cookieOf(url: string): Promise<string> {
  let cookie = "";
  const transport = connectJson.createTransport(url, { headers: { "hostplane-session": "cookie" } });
  await createClient(AuthService, transport).login(admin, {
    onHeader: (header) => {
      cookie = header.get("set-cookie")?.split(";")[0] ?? "";
    },
  });
  return cookie;
}

test("a session cookie opens streams only for the gateway's own pages", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const cookie = await cookieOf(url);
  const query = (headers: Readonly<Record<string, string>>, request: Partial<EventStreamRequest> = {}) =>
    answerTo(url, { path: watchPath, ...request, headers: { cookie, ...headers } });
  // A browser omits Origin in a GET to its own origin.
  t.equal(await query({ "sec-fetch-site": "same-origin" }), "200");
  t.equal(await query({ "sec-fetch-site": "cross-site" }), "403 ORIGIN_NOT_ALLOWED");
  t.equal(await query({ "sec-fetch-site": "same-site" }), "403 ORIGIN_NOT_ALLOWED");
  t.equal(await query({ origin: "https://evil.example" }), "403 ORIGIN_NOT_ALLOWED");
  const create = { path: createPath, body: "{}" };
  t.equal(await query({ origin: url }, create), "400 INVALID_FIELD");
  t.equal(await query({}, create), "403 ORIGIN_NOT_ALLOWED");
});

test("a stream ends with the login, and a reconnecting client is refused for good", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const { headers, transport } = await logIn(url);
  const events = await openEventStream(url, { path: subscribePath, headers });
  const { lastEventId = "" } = (await events.next()) ?? {};
  await createClient(AuthService, transport).logout({});
  const reported = await events.until(({ type }) => type === "error");
  t.match(JSON.parse(reported.at(-1)?.data ?? ""), {
    code: "unauthenticated",
    details: [{ debug: { reason: "TOKEN_REVOKED" } }],
  });
  const again = { ...headers, "last-event-id": lastEventId };
  t.equal(await answerTo(url, { path: subscribePath, headers: again }), "401 TOKEN_REVOKED");
});

test("an invalid cursor is refused", async (t) => {
  const { url } = await startGatewayUnderTest(t);
  const headers = { "last-event-id": "none" };
  t.equal(await answerTo(url, { path: subscribePath, headers }), "400 INVALID_FIELD");
  t.equal(await answerTo(url, { path: watchPath, headers }), "200", "a method without cursors begins again");
});

test("streams count towards their caller's limits and in the metrics", async (t) => {
  const limits = { caller: { streams: 2 } };
  const { url } = await startGatewayUnderTest(t, { limits }, { hasLogin: true });
  const { headers } = await logIn(url);
  const open = await Promise.all(
    httpVersions.map((httpVersion) => openEventStream(url, { httpVersion, path: watchPath, headers })),
  );
  t.same(
    open.map(({ status }) => status),
    [200, 200],
  );
  const refused = await openEventStream(url, { path: watchPath, headers });
  t.match(refused, { status: 429, headers: { "retry-after": "1" } });
  t.match(await refused.text(), /limits\.caller\.streams/);
  for (const events of open) {
    events.close();
  }
  while ((await answerTo(url, { path: watchPath, headers })) !== "200") {
    await new Promise((resolve) => setImmediate(resolve));
  }
  const metrics = await (await fetch(`${url}/metrics`, { headers })).text();
  t.match(metrics, /hostplane_rpc_duration_seconds_count\{rpc="proto.VGService\/Watch",protocol="sse"/);
});

test("a listener without the service refuses its streams", async (t) => {
  const { url } = await startGatewayUnderTest(t, {
    listen: [{ address: "127.0.0.1:0", services: ["proto.VGService"] }],
  });
  for (const httpVersion of httpVersions) {
    t.equal(await answerTo(url, { httpVersion, path: subscribePath }), "501 SERVICE_NOT_ON_LISTENER");
    t.equal(await answerTo(url, { httpVersion, path: watchPath }), "200");
  }
});

test("a page from a listed origin may open streams, and no other page may", async (t) => {
  const origin = "http://localhost:5173";
  const { url } = await startGatewayUnderTest(t, { cors: { origins: [origin] } });
  const events = await openEventStream(url, { path: watchPath, headers: { origin } });
  t.equal(events.headers["access-control-allow-origin"], origin);
  events.close();
  const elsewhere = { origin: "http://elsewhere.example" };
  t.equal(await answerTo(url, { path: watchPath, headers: elsewhere }), "403 ORIGIN_NOT_ALLOWED");
  const preflight = await fetch(`${url}${watchPath}`, {
    method: "OPTIONS",
    headers: {
      origin,
      "access-control-request-method": "GET",
      "access-control-request-headers": "last-event-id",
    },
  });
  t.match(preflight.headers.get("access-control-allow-headers"), /last-event-id/);
});

test("a silent Watch sends comments instead of repeating its state", async (t) => {
  const { url } = await startGatewayUnderTest(t, { keepAliveMs: 1_000 });
  const volumes = createClient(LVService, connectJson.createTransport(url));
  const hasFree = (gib: number) => (event: ParsedEvent) =>
    JSON.parse(event.data).freeBytes === String(gib * 2 ** 30);
  for (const httpVersion of httpVersions) {
    const events = await openEventStream(url, { httpVersion, path: watchPath });
    const name = `by-http-${httpVersion[0]}`;
    await volumes.createLV({ name, sizeGb: 1n });
    await events.until(hasFree(7));
    const changed = events.until(hasFree(8));
    const before = events.parser.commentCount;
    while (events.parser.commentCount < before + 3) {
      await delay(50);
    }
    await volumes.removeLV({ name });
    // The very first watcher may get the state twice.
    t.ok((await changed).length <= 2, `over HTTP/${httpVersion}`);
    events.close();
  }
});
