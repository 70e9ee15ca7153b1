import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { type Test, test } from "tap";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { type ToolObservation, toolChannel } from "../../../adapters/host/observation.ts";
import { msFromRetryAfter } from "../../../adapters/maas/client.ts";
import { createMaas, type MaasOptions } from "../../../adapters/maas/maas.ts";
import { createMaasSandbox } from "../../../adapters/maas/sandbox.ts";
import { createCertificate } from "../../server/rpc/listener/certificate.ts";
import { reasonOf } from "../host/reason-of.ts";

const apiKey = { consumer: "consumer", token: "token", secret: "hidden-secret" };

async function startSandbox(t: Test, options: Parameters<typeof createMaasSandbox>[0] = {}) {
  const sandbox = await createMaasSandbox({ deployMs: 60_000, releaseMs: 0, ...options });
  t.teardown(() => sandbox.close());
  return sandbox;
}

/** A server that is no MAAS, and the adapter that takes it for one. */
async function startServer(t: Test, listener: RequestListener, options: Partial<MaasOptions> = {}) {
  const server = createServer(listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const maas = createMaas({ url: `http://127.0.0.1:${port}/MAAS`, apiKey, ...options });
  t.teardown(async () => {
    await maas.close();
    server.closeAllConnections();
    server.close();
  });
  return { maas, url: `http://127.0.0.1:${port}/MAAS` };
}

async function errorOf(promise: Promise<unknown>): Promise<InfraError> {
  const error = await promise.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  if (!(error instanceof InfraError)) {
    throw new Error("no InfraError", { cause: error });
  }
  return error;
}

function nonceOf(authorization: string | undefined): string {
  return /oauth_nonce="([^"]+)"/.exec(authorization ?? "")?.[1] ?? "";
}

test("a read is asked again, with a signature of its own each time", async (t) => {
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

test("a read gives up after a few tries, with the words of the last", async (t) => {
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

test("a change is never asked again when nobody knows whether it was made", async (t) => {
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

test("a change is asked again when MAAS says that another was in its way", async (t) => {
  const sandbox = await startSandbox(t);
  const { fake } = sandbox;
  const { systemId } = await sandbox.choose({});
  const answer = { status: 409, text: "", headers: { "content-type": "text/plain", "retry-after": "0" } };
  fake.inject({ op: "allocate" }, { kind: "answer", answer, times: 2 });
  t.match(await sandbox.allocate({ systemId, agentName: "kaas/a/b" }), { status: "allocated" });
  fake.inject({ op: "release" }, { kind: "answer", answer, times: 100 });
  const started = fake.requests.length;
  t.match(await errorOf(sandbox.release(systemId)), { reason: "MAAS_UNAVAILABLE", retryAfterMs: 0 });
  t.equal(fake.requests.length - started, 4);
});

test("a wait that is longer than the deadline is not begun", async (t) => {
  const sandbox = await startSandbox(t, { changePatienceMs: 10_000 });
  const { systemId } = await sandbox.choose({});
  const answer = { status: 409, text: "", headers: { "retry-after": "3600" } };
  sandbox.fake.inject({ op: "allocate" }, { kind: "answer", answer });
  const error = await errorOf(sandbox.allocate({ systemId, agentName: "kaas/a/b" }));
  t.match(error, { reason: "MAAS_UNAVAILABLE", retryAfterMs: 60_000 });
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
  const reason = new InfraError("CALLER_LEFT", "left");
  const reading = errorOf(sandbox.whoami(leaving.signal));
  leaving.abort(reason);
  t.equal(await reading, reason);
});

test("what MAAS says of a wrong key is in no error, with the secret that it tells", async (t) => {
  const sandbox = await startSandbox(t);
  const [request] = [...sandbox.fake.requests, await sandbox.whoami().then(() => sandbox.fake.requests[0])];
  const part = (name: string) =>
    decodeURIComponent(new RegExp(`${name}="([^"]*)"`).exec(request?.authorization ?? "")?.[1] ?? "");
  const rightSecret = part("oauth_signature").slice(1);
  const wrongKey = { consumer: part("oauth_consumer_key"), token: part("oauth_token"), secret: "wrong" };
  const body = await (
    await fetch(`${sandbox.fake.url}/api/2.0/users/?op=whoami`, {
      headers: {
        authorization:
          request?.authorization
            ?.replace(/(oauth_signature=")[^"]*/, "$1%26wrong")
            .replace(/(oauth_nonce=")[^"]*/, "$1another") ?? "",
      },
    })
  ).text();
  t.ok(body.includes(rightSecret), "the fake leaks as the real one does");
  const maas = createMaas({ url: sandbox.fake.url, apiKey: wrongKey });
  t.teardown(() => maas.close());
  const error = await errorOf(maas.whoami());
  t.match(error, { reason: "MAAS_DENIED", code: "INTERNAL", retryable: false, message: /API key/ });
  const all = inspect(error, { depth: 10, showHidden: true });
  for (const secret of [rightSecret, "wrong", "Expected signature"]) {
    t.notOk(all.includes(secret), `nothing of ${secret === rightSecret ? "the secret" : secret}`);
  }
  t.match((await maas.inspect()).findings, [{ ok: false, fix: /maas apikey/ }]);
});

test("a clock that is wrong is told", async (t) => {
  const sandbox = await startSandbox(t);
  sandbox.fake.setClockOffset(412_000);
  t.match(await errorOf(sandbox.whoami()), {
    reason: "MAAS_DENIED",
    message: /clock here is 41\d s behind its own/,
  });
  sandbox.fake.setClockOffset(200_000);
  t.equal((await sandbox.whoami()).username, "sandbox");
});

test("an outage is one of MAAS, and over when it is over", async (t) => {
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
  t.match(await errorOf(closed.version()), { reason: "MAAS_UNAVAILABLE", message: /nobody listens/ });
  await closed.close();
});

test("whoever is no MAAS does not make machines vanish", async (t) => {
  const page = "<h1>Not Found</h1> hidden-secret";
  const answers = [
    { status: 404, type: "text/html", body: page },
    { status: 404, type: "text/plain", body: "404 page not found" },
    { status: 404, type: "text/plain", body: "Unknown API endpoint: /MAAS/api/2.0/machines/." },
    { status: 302, type: "text/html", body: page },
    { status: 410, type: "text/plain", body: page },
    { status: 500, type: "text/html", body: page },
    { status: 200, type: "text/html", body: page },
    { status: 200, type: "application/json", body: "[]" },
    { status: 200, type: "application/json", body: '{"system_id":"aaaaaa","hostname":"other","status":4}' },
    { status: 204, type: "text/plain", body: "" },
  ];
  let index = 0;
  const { maas } = await startServer(t, (_, response) => {
    const { status, type, body } = answers[index] ?? { status: 500, type: "", body: "" };
    response.writeHead(status, { "content-type": type, location: "https://elsewhere.invalid/" }).end(body);
  });
  for (const { status, body } of answers) {
    const error = await errorOf(maas.machine("bbbbbb"));
    t.equal(error.reason, "MAAS_FAILED", `${status} ${body}`);
    t.notMatch(inspect(error, { depth: 10 }), /hidden-secret|Not Found<|elsewhere/);
    index += 1;
  }
});

test("what a request held is in no error and in no observation", async (t) => {
  const userData = "#cloud-config\nhidden-secret: of a cluster\n";
  const encoded = Buffer.from(userData).toString("base64");
  const answers = [
    {
      status: 400,
      type: "application/json",
      body: JSON.stringify({ user_data: [encoded], hwe_kernel: ["No such."] }),
    },
    { status: 400, type: "text/html", body: `<pre>${encoded}</pre>` },
    { status: 400, type: "text/plain", body: `Failed to render preseed: ${encoded}` },
    { status: 500, type: "text/plain", body: encoded },
    { status: 503, type: "text/html", body: encoded },
  ];
  let index = 0;
  const { maas } = await startServer(t, (request, response) => {
    request.resume();
    const { status, type, body } = answers[index] ?? { status: 500, type: "", body: "" };
    response.writeHead(status, { "content-type": type }).end(body);
  });
  const observed: ToolObservation[] = [];
  const subscriber = {
    start: (observation: object) => observed.push(observation as ToolObservation),
    end() {},
    asyncStart() {},
    asyncEnd() {},
    error() {},
  };
  toolChannel.subscribe(subscriber);
  t.teardown(() => toolChannel.unsubscribe(subscriber));
  const reasons = ["MAAS_REFUSED", "MAAS_REFUSED", "MAAS_REFUSED", "MAAS_FAILED", "MAAS_UNAVAILABLE"];
  for (const reason of reasons) {
    const error = await errorOf(maas.deploy("bbbbbb", { series: "noble", userData, comment: "why" }));
    t.equal(error.reason, reason);
    t.notOk(inspect(error, { depth: 10 }).includes(encoded));
    index += 1;
  }
  t.equal(observed.length, reasons.length);
  t.match(observed[0], {
    program: "maas",
    subcommand: "deploy",
    argv: ["POST", "machines/bbbbbb/?op=deploy", "distro_series=noble", "comment=why"],
    outcome: { exitCode: 1, failure: "MAAS_REFUSED" },
  });
  t.notOk(inspect(observed, { depth: 10 }).includes(encoded));
});

test("the words of a refusal name the field", async (t) => {
  const { maas } = await startServer(t, (_, response) => {
    response.writeHead(400, { "content-type": "application/json; charset=utf-8" });
    response.end(JSON.stringify({ tags: ["No such tag(s): 'x'."], user_data: ["secret"], odd: 7 }));
  });
  const { message } = await errorOf(maas.choose({}));
  t.match(message, "tags: No such tag(s): 'x'.; user_data: not accepted; odd: not accepted");
});

test("a machine of which MAAS answers null is read", async (t) => {
  const sandbox = await startSandbox(t);
  const { systemId } = await sandbox.choose({});
  const json = { status: 200, text: "null", headers: { "content-type": "application/json" } };
  sandbox.fake.inject({ op: "deploy" }, { kind: "answer", answer: json });
  t.match(await sandbox.deploy(systemId, { series: "noble" }), { systemId, status: "ready" });
});

test("a filter that is lost on the way does not make the machines of others ours", async (t) => {
  const sandbox = await startSandbox(t);
  const { systemId } = await sandbox.other.choose({});
  await sandbox.other.allocate({ systemId, agentName: "theirs" });
  const all = {
    status: 200,
    json: await allMachines(sandbox.fake.url, sandbox.fake.requests.at(-1)?.authorization),
  };
  t.equal((all.json as unknown[]).length, 8);
  sandbox.fake.inject({ path: "machines/" }, { kind: "answer", answer: all, times: 2 });
  t.same(await sandbox.machines({ owner: "sandbox" }), []);
  t.equal((await sandbox.machines({ systemIds: [systemId] })).length, 1);
});

async function allMachines(url: string, authorization = ""): Promise<unknown> {
  const headers = { authorization: authorization.replace(/(oauth_nonce=")[^"]*/, "$1once-more") };
  return (await fetch(`${url}/api/2.0/machines/`, { headers })).json();
}

test("https is spoken with the certificates that are told, and with no proxy", async (t) => {
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

test("what is under way ends with the adapter", async (t) => {
  const sandbox = await startSandbox(t);
  sandbox.fake.inject({}, { kind: "delay", ms: 60_000 });
  const reading = reasonOf(sandbox.whoami());
  while (sandbox.fake.requests.length === 0) {
    await new Promise(setImmediate);
  }
  await sandbox.close();
  t.equal(await reading, "MAAS_UNAVAILABLE");
});
