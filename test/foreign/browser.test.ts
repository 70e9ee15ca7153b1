import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import tap, { type Test, test } from "tap";
import { PodService } from "../../gen/hostplane/v1/pod_pb.ts";
import { EventType, PublicAPI } from "../../gen/v1alpha/api_pb.ts";
import { openCutRelay } from "../chaos/cut-relay.ts";
import { readPage, tableBelow } from "../docs/markdown.ts";
import { readContractServices } from "../server/harness/contract-services.ts";
import { adminPassword, startGatewayUnderTest } from "../server/harness/gateway-under-test.ts";
import { createCertificate } from "../server/rpc/listener/certificate.ts";
import { chromium, openPage } from "./browser/chromium.ts";
import { connectWeb1 } from "./browser/connect-web-1/connect-web-1.ts";
import { startPageServer } from "./browser/page-server.ts";

tap.setTimeout(900_000);
const { path, skip: hasNoBrowser } = await chromium();
const version1 = await connectWeb1();
const skip = hasNoBrowser || version1.skip;

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const calls = ["GetLVList", "Watch", "ListenEvents", "CreateHypervisor"];

test("client libraries, fetch and EventSource in Chromium, on a page of another origin", {
  skip,
  timeout: 900_000,
}, async (t) => {
  const { results, closedLog } = await runPage(t);
  const table = tableBelow(readPage("docs/reference/protocols.md"), "## Which browser client can call what");
  const rows = [...table, ["`connect-web` 2", "Connect over TLS", "yes", "yes", "yes", "yes"]];
  t.same(
    rows.map(([client = "", mode = ""]) => nameOf(client, mode)).toSorted(),
    Object.keys(results)
      .filter((name) => "Watch" in (results[name] ?? {}))
      .toSorted(),
  );

  for (const [client = "", mode = "", ...cells] of rows) {
    const name = nameOf(client, mode);
    await t.test(name, async (t) => checkCalls(t, results[name] ?? {}, cells, name));
  }
  await t.test("fetch logs in, and resumes streams", async (t) => checkFetch(t, results["only fetch"] ?? {}));
  await t.test("EventSource resumes streams, and cannot log in", async (t) =>
    checkEventSource(t, results["only EventSource"] ?? {}),
  );
  t.same(results["connect-web 2"], { httpMethodOfGet: { value: "GET" } });
  await t.test("a page of an unlisted origin reaches no method", async (t) => {
    const refusals = Object.entries(results["origin that is not listed"] ?? {});
    t.equal(refusals.length, 6);
    for (const [client, result] of refusals) {
      t.match(
        result,
        { value: { message: /Failed to fetch|closed|Http response at 400 or 500 level/ } },
        client,
      );
    }
    t.same(
      closedLog.filter(({ rpc }) => rpc !== undefined),
      [],
    );
  });
});

/** Returns a client's name in the page's results for a row of the table. */
function nameOf(client: string, mode: string): string {
  return [client, mode]
    .filter((cell) => cell !== "")
    .join(", ")
    .replaceAll("`", "");
}

type Results = Readonly<Record<string, unknown>>;

/** Starts gateways, opens the page, and waits for the results that it posts. */
async function runPage(t: Test) {
  const directory = await mkdtemp(join(tmpdir(), "hostplane-"));
  t.teardown(() => rm(directory, { recursive: true }));
  const [cert, key] = [join(directory, "cert"), join(directory, "key")];
  const certificate = await createCertificate("localhost");
  await Promise.all([writeFile(cert, certificate.cert), writeFile(key, certificate.key)]);

  const query = new URLSearchParams({ password: adminPassword });
  let cut = () => {};
  const page = await startPageServer(t, { connectWeb1: version1.path, query: () => query, cut: () => cut() });
  const services = (await readContractServices()).map(({ typeName }) => typeName);
  const address = "127.0.0.1:0";
  const { gateway, url } = await startGatewayUnderTest(
    t,
    {
      listen: [
        { address },
        { address, tls: { cert, key } },
        { address, auth: "none", role: "operator", services },
      ],
      cors: { origins: [page.origin] },
    },
    { hasLogin: true },
  );
  const [, tls = "", open = ""] = gateway.addresses;
  const relay = await openCutRelay(t, `http://${open}`);
  cut = () => relay.cut();
  const closed = await startGatewayUnderTest(t);
  const untilTime = await startPod(`http://${open}`);
  const urls = {
    login: url,
    tls: `https://${tls}`,
    open: `http://${open}`,
    relay: relay.url,
    closed: closed.url,
  };
  for (const [name, value] of Object.entries({ ...urls, untilTime, token: await logIn(url) })) {
    query.set(name, value);
  }

  const browser = await openPage(t, path, page.origin, certificate.cert);
  const results = await Promise.race([page.results, sleep(800_000, undefined, { ref: false })]);
  if (results === undefined) {
    throw new Error(`no results: ${browser.stderr().slice(-2000)}`);
  }
  return { results, closedLog: closed.log };
}

async function logIn(url: string): Promise<string> {
  const answer = await fetch(`${url}/services.auth.AuthService/Login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ username: "admin", password: adminPassword }),
  });
  const { token } = (await answer.json()) as { token: string };
  return token;
}

/** Starts a pod, and waits for its event. @returns the second after it, in the form that ListenEvents takes */
async function startPod(url: string): Promise<string> {
  const transport = createConnectTransport({ baseUrl: url, httpVersion: "1.1" });
  const pods = createClient(PodService, transport);
  const { pods: known } = await pods.listPods({});
  await pods.startPod({ pod: known.find(({ name }) => name === "sandbox-new")?.id ?? "" });
  const filter = { names: ["sandbox-new"], types: [EventType.POD_STARTED], sinceTime: 1n };
  for await (const { events } of createClient(PublicAPI, transport).listenEvents({ filter })) {
    for (const { time } of events) {
      return String(time + 1n);
    }
  }
  throw new Error("the stream of events ended");
}

/** Compares the results of a client with its row of the table, whose cells begin with `yes` or `no`. */
function checkCalls(t: Test, results: Results, cells: readonly string[], name: string): void {
  const done: Results = {
    GetLVList: { volumes: ["sandbox-web", "sandbox-db"] },
    Watch: { takenBytes: 2 ** 30 },
    ListenEvents: [{ type: "EVENT_TYPE_POD_STARTED", from: "sandbox-new" }],
    CreateHypervisor: ["SCHEDULED", "ACTIVE", "COMPLETED"].map((state) => `OPERATION_STATE_${state}`),
  };
  t.equal(cells.length, calls.length);
  for (const [index, call] of calls.entries()) {
    const isPossible = /^yes/.test(cells[index] ?? "");
    t.match(results[call], isPossible ? { value: done[call] } : { error: /closed|deadline/ }, call);
  }
  if (name !== "EventSource") {
    checkErrors(t, results, name.startsWith("grpc-web"));
  }
}

/** @param hidesHeaders whether the library hides the headers of a unary response from the page */
function checkErrors(t: Test, results: Results, hidesHeaders: boolean): void {
  const message = "sandbox-vg/sandbox-web already exists";
  t.match(results.unaryError, { value: { code: "already_exists", message, reasons: ["VOLUME_EXISTS"] } });
  t.match(results.streamError, { value: { code: "not_found", reasons: ["HYPERVISOR_NOT_FOUND"] } });
  t.same(results.idempotencyKey, { value: { isSame: true, replays: hidesHeaders ? [] : [null, "true"] } });
  t.match(results.GetLVList, { value: { requestId: hidesHeaders ? null : uuid } });
}

function checkFetch(t: Test, results: Results): void {
  t.same(results.login, { value: { withoutToken: 401, withToken: 200 } });
  const types = ["volume.created", "volume.removed"];
  t.same(results.resumeByLastEventId, { value: types });
  t.same(results.resumeByCursor, { value: types });
}

function checkEventSource(t: Test, results: Results): void {
  t.same(results.resumeAfterCut, { value: ["volume.created", "volume.removed"] });
  for (const refusal of ["withoutLogin", "withCredentials", "badRequest"]) {
    t.match(results[refusal], { value: { message: "closed" } }, refusal);
  }
}
