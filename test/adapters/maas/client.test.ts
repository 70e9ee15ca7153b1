import { once } from "node:events";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { test } from "tap";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../adapters/host/reasons.ts";
import { msFromRetryAfter } from "../../../adapters/maas/client.ts";
import { createMaas } from "../../../adapters/maas/maas.ts";
import { createCertificate } from "../../server/rpc/listener/certificate.ts";
import { reasonOf } from "../host/reason-of.ts";
import { apiKey, errorOf, startSandbox } from "./maas-under-test.ts";

function nonceOf(authorization: string | undefined): string {
  return /oauth_nonce="([^"]+)"/.exec(authorization ?? "")?.[1] ?? "";
}

test("a read is retried, with a new signature each time", async (t) => {
  const sandbox = await startSandbox(t);
  const { fake } = sandbox;
  const busy = { status: 503, text: "No rack controllers", headers: { "content-type": "text/plain" } };
  fake.inject({}, { kind: "answer", answer: busy });
  fake.inject({}, { kind: "cut" });
  fake.inject({}, { kind: "answer", answer: { status: 504, text: "" } });
  t.equal((await sandbox.whoami()).username, "sandbox");
  t.equal(fake.requests.length, 4);
  t.equal(new Set(fake.requests.map(({ authorization }) => nonceOf(authorization))).size, 4);
});

test("a read gives up after a few attempts, with the last message", async (t) => {
  const sandbox = await startSandbox(t);
  const answer = { status: 503, text: "no rack\ncontroller", headers: { "content-type": "text/plain" } };
  sandbox.fake.inject({}, { kind: "answer", answer, times: 100 });
  const error = await errorOf(sandbox.tags());
  t.match(error, {
    reason: "MAAS_UNAVAILABLE",
    retryable: true,
    message: /503 to list the tags: no rack controller$/,
  });
  t.equal(sandbox.fake.requests.length, 4);
});

test("a region controller down behind a proxy gives the same message for every call", async (t) => {
  const sandbox = await startSandbox(t);
  const page = "<html><h1>502 Bad Gateway</h1><p>to whoami, allocate</p></html>";
  const answer = { status: 502, text: page, headers: { "content-type": "text/html" } };
  sandbox.fake.inject({}, { kind: "answer", answer, times: 100 });
  const errors = await Promise.all([
    errorOf(sandbox.whoami()),
    errorOf(sandbox.choose({ tags: ["standard"] })),
    errorOf(sandbox.machines()),
    errorOf(sandbox.reserveAddress({ address: "10.20.0.9" })),
  ]);
  const message = `MAAS at ${sandbox.fake.url} is unavailable: it, or a proxy in front of it, answered 502; check that the region controller is running`;
  t.same(
    errors.map((error) => [error.reason, error.message]),
    errors.map(() => ["MAAS_UNAVAILABLE", message]),
  );
});

test("a change is never retried when it is unknown whether it was made", async (t) => {
  const sandbox = await startSandbox(t);
  const { fake } = sandbox;
  const { systemId } = await sandbox.choose({});
  const count = () =>
    fake.requests.filter(({ op, form }) => op === "allocate" && !form?.has("dry_run")).length;
  fake.inject({ op: "allocate" }, { kind: "loseReply" });
  t.equal(await reasonOf(sandbox.allocate({ systemId, agentName: "kaas/a/b" })), "MAAS_UNAVAILABLE");
  t.equal(count(), 1);
  const found = await sandbox.machines({ agentName: "kaas/a/b" });
  t.same(
    found.map((machine) => machine.systemId),
    [systemId],
    "it was made",
  );
  fake.inject({ op: "deploy" }, { kind: "answer", answer: { status: 503, text: "" } });
  t.equal(await reasonOf(sandbox.deploy(systemId, { series: "noble" })), "MAAS_UNAVAILABLE");
  fake.inject({ op: "deploy" }, { kind: "cut" });
  t.equal(await reasonOf(sandbox.deploy(systemId, { series: "noble" })), "MAAS_UNAVAILABLE");
  t.equal(fake.requests.filter(({ op }) => op === "deploy").length, 2);
});

test("a change is not retried after a conflict either, since the caller must check first", async (t) => {
  const sandbox = await startSandbox(t);
  const { fake } = sandbox;
  const { systemId } = await sandbox.choose({});
  const answer = { status: 409, text: "", headers: { "content-type": "text/plain", "retry-after": "2" } };
  const refused = { reason: "MAAS_UNAVAILABLE", retryAfterMs: 2_000 };
  const changes: readonly (() => Promise<unknown>)[] = [
    () => sandbox.allocate({ systemId, agentName: "kaas/a/b" }),
    () => sandbox.annotate(systemId, { a: "b" }),
    () => sandbox.deploy(systemId, { series: "noble" }),
    () => sandbox.markBroken(systemId, "why"),
    () => sandbox.release(systemId),
    () => sandbox.reserveAddress({ address: "10.20.0.9" }),
  ];
  for (const change of changes) {
    const before = fake.requests.length;
    fake.inject({}, { kind: "answer", answer });
    t.match(await errorOf(change()), refused);
    t.equal(fake.requests.length - before, 1);
  }
  t.match(fake.region.machine(systemId), { status: "ready", owner: undefined });
});

test("a read waits for as long as MAAS requests, unless that exceeds its deadline", async (t) => {
  const sandbox = await startSandbox(t, { readPatienceMs: 10_000 });
  const busy = (seconds: string) => ({ status: 503, text: "", headers: { "retry-after": seconds } });
  sandbox.fake.inject({}, { kind: "answer", answer: busy("1") });
  const startedMs = performance.now();
  t.match(await sandbox.whoami(), { username: "sandbox" });
  t.ok(performance.now() - startedMs > 990);
  sandbox.fake.inject({}, { kind: "answer", answer: busy("3600") });
  t.match(await errorOf(sandbox.whoami()), { reason: "MAAS_UNAVAILABLE", retryAfterMs: 60_000 });
  t.equal(sandbox.fake.requests.length, 3);
});

test("a retry time is a number of seconds or a date", async (t) => {
  t.equal(msFromRetryAfter("5"), 5_000);
  t.equal(msFromRetryAfter("Sat, 21 Nov 2026 00:00:07 GMT", Date.UTC(2026, 10, 21)), 7_000);
  t.equal(msFromRetryAfter("soon"), 0);
  t.equal(msFromRetryAfter(undefined), 0);
});

test("a call has a deadline, and a read ends when its caller leaves", async (t) => {
  const sandbox = await startSandbox(t, { readPatienceMs: 150, changePatienceMs: 150 });
  const { systemId } = await sandbox.choose({});
  sandbox.fake.inject({}, { kind: "delay", ms: 60_000, times: 3 });
  t.match(await errorOf(sandbox.whoami()), { reason: "MAAS_UNAVAILABLE", message: /no answer in time/ });
  t.match(await errorOf(sandbox.deploy(systemId, { series: "noble" })), { reason: "MAAS_UNAVAILABLE" });
  const leaving = new AbortController();
  const reason = new InfraError(hostReasons.CALLER_LEFT, "left");
  const reading = errorOf(sandbox.whoami(leaving.signal));
  leaving.abort(reason);
  t.equal(await reading, reason);
});

test("an outage is MAAS_UNAVAILABLE, until it ends", async (t) => {
  const sandbox = await startSandbox(t);
  sandbox.fake.setOutage(true);
  t.match(await errorOf(sandbox.machines()), { reason: "MAAS_UNAVAILABLE" });
  t.match(await sandbox.inspect(), {
    version: undefined,
    findings: [{ ok: false, fix: /clusters\.maas\.url/ }],
  });
  sandbox.fake.setOutage(false);
  t.equal((await sandbox.machines()).length, 8);
  const closed = createMaas({ url: "http://127.0.0.1:1/MAAS", apiKey });
  t.match(await errorOf(closed.version()), { reason: "MAAS_UNAVAILABLE", message: /connection refused/ });
  await closed.close();
});

test("https uses the configured certificates and no proxy", async (t) => {
  for (const name of ["HTTPS_PROXY", "HTTP_PROXY"]) {
    const before = process.env[name];
    process.env[name] = "http://127.0.0.1:1";
    t.teardown(() => {
      delete process.env[name];
      Object.assign(process.env, before === undefined ? {} : { [name]: before });
    });
  }
  const { cert, key } = await createCertificate("127.0.0.1");
  const server = createTlsServer({ cert, key }, (_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ version: "3.8.0", capabilities: [] }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const url = `https://127.0.0.1:${port}/MAAS`;
  const trusting = createMaas({ url, apiKey, ca: cert.toString() });
  const strict = createMaas({ url, apiKey });
  t.teardown(async () => {
    await Promise.all([trusting.close(), strict.close()]);
    server.closeAllConnections();
    server.close();
  });
  t.match(await trusting.version(), { version: "3.8.0" });
  t.match(await errorOf(strict.version()), {
    reason: "MAAS_UNAVAILABLE",
    message: /certificate is not trusted \([A-Z_]+\)/,
  });
});

test("closing the adapter ends pending calls", async (t) => {
  const sandbox = await startSandbox(t);
  sandbox.fake.inject({}, { kind: "delay", ms: 60_000 });
  const reading = reasonOf(sandbox.whoami());
  while (sandbox.fake.requests.length === 0) {
    await new Promise(setImmediate);
  }
  await sandbox.close();
  t.equal(await reading, "MAAS_UNAVAILABLE");
});
