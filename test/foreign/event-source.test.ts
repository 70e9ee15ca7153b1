import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { chromium as engine } from "playwright-core";
import tap, { test } from "tap";
import { OperationsService } from "../../gen/operations/v1/operations_pb.ts";
import { LVService } from "../../gen/proto/lvmd_pb.ts";
import { AuthService } from "../../gen/services/auth/auth_pb.ts";
import { openCutRelay } from "../chaos/cut-relay.ts";
import { adminPassword, startGatewayUnderTest } from "../server/harness/gateway-under-test.ts";
import { chromium } from "./browser/chromium.ts";

tap.setTimeout(900_000);
const { path, skip } = await chromium();

/** What a page has received from a stream; it only knows the stream's URL. */
interface Seen {
  readonly types: string[];
  readonly volumes: string[];
  readonly errors: string[];
  readyState: number;
}

test("EventSource in Chromium, on a page of the gateway", { skip, timeout: 900_000 }, async (t) => {
  const { url, log } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const relay = await openCutRelay(t, url);
  const admin = { username: "admin", password: adminPassword };
  const login = await createClient(
    AuthService,
    createConnectTransport({ baseUrl: url, httpVersion: "1.1" }),
  ).login(admin);
  const transport = createConnectTransport({
    baseUrl: url,
    httpVersion: "1.1",
    interceptors: [
      (next) => (request) => {
        request.header.set("authorization", `Bearer ${login.token}`);
        return next(request);
      },
    ],
  });
  const volumes = createClient(LVService, transport);

  const browser = await engine.launch({
    executablePath: path,
    // Chromium's own sandbox does not work as root.
    args: process.getuid?.() === 0 ? ["--no-sandbox", "--disable-dev-shm-usage"] : [],
  });
  t.teardown(() => browser.close());
  const page = await browser.newPage();
  await page.goto(`${relay.url}/healthz`);
  const status = await page.evaluate(async (body) => {
    const headers = { "content-type": "application/json", "hostplane-session": "cookie" };
    return (await fetch("/services.auth.AuthService/Login", { method: "POST", headers, body })).status;
  }, JSON.stringify(admin));
  t.equal(status, 200, "the page has its cookie");

  /** Opens a stream under a name; the page records what it receives under the same name. */
  const open = (name: string, rpc: string) =>
    page.evaluate(
      ([name, rpc]) => {
        const seen: Seen = { types: [], volumes: [], errors: [], readyState: 0 };
        Object.assign(globalThis, { [name as string]: seen });
        const source = new EventSource(`/${rpc}`);
        const note = (event: Event) => {
          seen.readyState = source.readyState;
          const isNative = event.type === "error" && !(event instanceof MessageEvent);
          seen.types.push(isNative ? `error ${source.readyState}` : event.type);
        };
        source.onopen = note;
        source.onerror = (event) => {
          note(event);
          if (event instanceof MessageEvent) {
            seen.errors.push(event.data);
          }
        };
        source.addEventListener("end", note);
        source.onmessage = (event) => {
          note(event);
          const { event: reported } = JSON.parse(event.data);
          if (reported?.volume !== undefined) {
            seen.volumes.push(`${reported.type} ${reported.volume.name}`);
          }
        };
      },
      [name, rpc],
    );
  const seenBy = (name: string) =>
    page.evaluate((key) => (globalThis as unknown as Record<string, Seen>)[key], name);
  const until = (name: string, condition: string) =>
    page.waitForFunction(`((seen) => ${condition})(globalThis[${JSON.stringify(name)}])`);

  await t.test("continues after the last event after a break, and misses nothing", async (t) => {
    await open("events", "hostplane.v1.EventService/Subscribe?topics=volumes");
    await until("events", "seen.types.includes('message')");
    const expected: string[] = [];
    for (const name of ["a", "b", "c", "d", "e"]) {
      await volumes.createLV({ name, sizeGb: 1n });
      expected.push(`volume.created ${name}`);
      relay.cut();
      await volumes.removeLV({ name });
      expected.push(`volume.removed ${name}`);
      await until("events", `seen.volumes.length >= ${expected.length}`);
    }
    const { volumes: reported = [], types = [] } = (await seenBy("events")) ?? {};
    t.same(reported, expected);
    t.ok(types.filter((type) => type === "open").length >= 5, "it has reconnected by itself");
  });

  await t.test("does not reopen a stream that has ended", async (t) => {
    let operationId = "";
    const create = createClient(OperationsService, transport).createHypervisor(
      { id: "sandbox-hv-2" },
      {
        onHeader(header) {
          operationId = header.get("hostplane-operation") ?? "";
        },
      },
    );
    for await (const _progress of create) {
      // Reads to the end.
    }
    await open("operation", `hostplane.v1.OperationService/WatchOperation?id=${operationId}`);
    await until("operation", "seen.readyState === EventSource.CLOSED");
    const { types } = (await seenBy("operation")) ?? {};
    t.same(types, ["open", "message", "end", "error 0", "error 2"]);
  });

  await t.test("stops permanently at an HTTP status", async (t) => {
    await open("refused", "hostplane.v1.EventService/Subscribe?topics=nothing");
    await until("refused", "seen.readyState === EventSource.CLOSED");
    t.same((await seenBy("refused"))?.types, ["error 2"]);
  });

  await t.test("learns why its login ended, and is then rejected", async (t) => {
    await open("watch", "proto.VGService/Watch");
    await until("watch", "seen.types.includes('message')");
    await page.evaluate(() => {
      const headers = { "content-type": "application/json" };
      return fetch("/services.auth.AuthService/Logout", { method: "POST", headers, body: "{}" });
    });
    await until("watch", "seen.readyState === EventSource.CLOSED");
    const { errors = [], types = [] } = (await seenBy("watch")) ?? {};
    t.match(errors, [/TOKEN_REVOKED/]);
    t.same(types.slice(-2), ["error 0", "error 2"]);
  });

  t.same(
    log.filter(({ level }) => Number(level) >= 40),
    [],
    "nothing is logged as an error",
  );
});
