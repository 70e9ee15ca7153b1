import { createClient } from "@connectrpc/connect";
import fastify from "fastify";
import { test } from "tap";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { VGService } from "../../../gen/proto/lvmd_pb.ts";
import type { Backend } from "../../../server/domain/backend.ts";
import { createMetrics } from "../../../server/observability/metrics.ts";
import { metricsPage } from "../../../server/observability/metrics-page.ts";
import { reasonNamed } from "../../reason-named.ts";
import { startGatewayUnderTest } from "../harness/gateway-under-test.ts";
import { streamProtocols } from "../harness/protocols.ts";
import { requestHttp1 } from "../harness/raw-request.ts";
import { readMetrics, samplesFrom } from "./metrics-text.ts";
import { standInLvm } from "./stand-in-lvm.ts";

const version = "0.0.0-test";
const list = "proto.VGService/GetLVList";
const watch = "proto.VGService/Watch";

async function post(url: string, rpc: string, body: object): Promise<number> {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${url}/${rpc}`, { method: "POST", headers, body: JSON.stringify(body) });
  await answer.arrayBuffer();
  return answer.status;
}

test("calls are counted by method, protocol and code", async (t) => {
  const { url } = await startGatewayUnderTest(t);
  await post(url, list, {});
  await post(url, list, {});
  await post(url, list, { deviceClass: "none" });
  await post(url, "proto.LVService/CreateLV", { unknown: 1 });
  const metrics = await readMetrics(url);
  const count = (rpc: string, code: string) =>
    metrics.get(`hostplane_rpc_duration_seconds_count{rpc="${rpc}",protocol="connect",code="${code}"}`);
  t.equal(count(list, "OK"), 2);
  t.equal(count(list, "NOT_FOUND"), 1);
  t.equal(count("proto.LVService/CreateLV", "INVALID_ARGUMENT"), 1);
  t.equal(metrics.get(`hostplane_rpcs_in_flight{rpc="${list}"}`), 0);
  t.equal(metrics.get(`hostplane_build_info{version="${version}",sandbox="true"}`), 1);
  t.ok((metrics.get("process_resident_memory_bytes") ?? 0) > 1e6);
  t.ok(metrics.has("nodejs_eventloop_lag_p99_seconds"));
});

test("an open stream is counted while it is open, over any protocol", async (t) => {
  const { url } = await startGatewayUnderTest(t);
  const leaving = new AbortController();
  for (const protocol of streamProtocols) {
    const client = createClient(VGService, protocol.createTransport(url));
    await client.watch({}, { signal: leaving.signal })[Symbol.asyncIterator]().next();
  }
  const open = `hostplane_streams_open{rpc="${watch}"}`;
  t.equal((await readMetrics(url)).get(open), streamProtocols.length);
  leaving.abort();
  let metrics = await readMetrics(url);
  while (metrics.get(open) !== 0) {
    metrics = await readMetrics(url);
  }
  const cancelled = [...metrics].filter(([series]) =>
    series.match(/rpc_duration_seconds_count\{rpc="proto.VGService\/Watch",.*code="CANCELLED"/),
  );
  t.equal(
    cancelled.reduce((sum, [, count]) => sum + count, 0),
    streamProtocols.length,
  );
});

test("nothing that a client can choose creates a new series", async (t) => {
  const { url } = await startGatewayUnderTest(t);
  // A backend's first snapshot creates its series at any time, independently of these calls.
  const name = (series: string) => /^hostplane_(?!snapshot_load_)/.test(series);
  await post(url, list, {});
  const before = [...(await readMetrics(url)).keys()].filter(name);
  for (let each = 0; each < 50; each += 1) {
    await post(url, `proto.VGService/Unknown${each}`, {});
    await post(url, `unknown.Service${each}/Get`, {});
    await fetch(`${url}/path/${each}?query=${each}`, { method: each % 2 === 0 ? "PUT" : "GET" });
    await fetch(`${url}/${list}`, { method: "POST", headers: { "content-type": `x/${each}` }, body: "{}" });
    await requestHttp1(url, {
      method: "GET",
      path: `/${each}`,
      headers: { host: `host-${each}.example.org` },
    });
  }
  t.strictSame([...(await readMetrics(url)).keys()].filter(name), before);
});

test("tools, snapshots and mutations are counted by their kind", async (t) => {
  const { url } = await startGatewayUnderTest(t, await standInLvm(t));
  t.equal(await post(url, "proto.LVService/CreateLV", { name: "data", sizeGb: 1 }), 200);
  t.equal(await post(url, "proto.LVService/ResizeLV", { name: "data", sizeGb: 2 }), 500);
  const metrics = await readMetrics(url);
  const tool = (subcommand: string, outcome: string) =>
    metrics.get(
      `hostplane_tool_duration_seconds_count{program="lvm",subcommand="${subcommand}",outcome="${outcome}"}`,
    );
  t.equal(tool("lvcreate", "ok"), 1);
  t.equal(tool("lvextend", "failed"), 1);
  t.ok((tool("fullreport", "ok") ?? 0) >= 2);
  t.equal(metrics.get('hostplane_tools_running{program="lvm",subcommand="lvcreate"}'), 0);
  const operation = (kind: string, outcome: string) =>
    metrics.get(`hostplane_operation_duration_seconds_count{kind="${kind}",outcome="${outcome}"}`);
  t.equal(operation("volumes.create", "done"), 1);
  t.equal(operation("volumes.resize", "failed"), 1);
  t.equal(metrics.get('hostplane_operations_running{kind="volumes.create"}'), 0);
  t.equal(metrics.get('hostplane_queue_waiting{queue="mutations"}'), 0);
  t.ok((metrics.get('hostplane_snapshot_load_duration_seconds_count{system="lvm",outcome="ok"}') ?? 0) >= 2);
  t.equal(metrics.get('hostplane_backend_info{domain="volumes",system="lvm",kind="real"}'), 1);
  t.equal(metrics.get('hostplane_backend_health{domain="volumes",system="lvm",health="ok"}'), 1);
  t.ok((metrics.get('hostplane_snapshot_age_seconds{domain="volumes",system="lvm"}') ?? -1) >= 0);
});

test("a system that hangs is unknown, and does not hide the others", async (t) => {
  const backend = (name: string, status: Backend["status"]): Backend => ({
    domain: "volumes",
    name,
    kind: "real",
    services: [],
    status,
    subscribe: () => () => {},
  });
  const fresh = { health: "ok", version: "1", missing: [], snapshotAgeMs: 1_500 } as const;
  let answers = true;
  const metrics = createMetrics({
    version,
    isSandbox: false,
    backends: [
      backend("fine", async () => fresh),
      backend("hung", () => (answers ? Promise.resolve(fresh) : new Promise(() => {}))),
    ],
    patienceMs: 50,
  });
  t.teardown(() => metrics.close());
  const age = (system: string) => `hostplane_snapshot_age_seconds{domain="volumes",system="${system}"}`;
  t.equal(samplesFrom(await metrics.text()).get(age("hung")), 1.5, "in the first reading already");
  answers = false;
  const samples = samplesFrom(await metrics.text());
  t.equal(samples.get(age("fine")), 1.5);
  t.notOk(samples.has(age("hung")), "an unknown age is not reported");
  const health = (of: string) =>
    samples.get(`hostplane_backend_health{domain="volumes",system="hung",health="${of}"}`);
  t.equal(health("unknown"), 1);
  t.equal(health("ok"), 0);
});

test("two gateways of one process count their own calls", async (t) => {
  const [one, other] = [await startGatewayUnderTest(t), await startGatewayUnderTest(t)];
  await post(one.url, list, {});
  const series = `hostplane_rpc_duration_seconds_count{rpc="${list}",protocol="connect",code="OK"}`;
  t.equal((await readMetrics(one.url)).get(series), 1);
  t.equal((await readMetrics(other.url)).get(series), undefined);
});

test("a caller that may not read the metrics gets the reason, and no metrics", async (t) => {
  const metrics = createMetrics({ version, isSandbox: true, backends: [] });
  let reason: string | undefined;
  const app = fastify();
  t.teardown(async () => {
    await app.close();
    metrics.close();
  });
  const mayRead = async () => (reason === undefined ? undefined : new InfraError(reasonNamed(reason), "no"));
  await app.register(metricsPage, { metrics, mayRead });
  const open = await app.inject("/metrics");
  t.equal(open.statusCode, 200);
  t.equal(open.headers["content-type"], "text/plain; version=0.0.4; charset=utf-8");
  t.equal(open.headers["cache-control"], "no-store");
  for (const [refusal, status] of [
    ["LOGIN_REQUIRED", 401],
    ["ROLE_REQUIRED", 403],
    ["BUSY", 429],
    ["SHUTTING_DOWN", 503],
  ] as const) {
    reason = refusal;
    const { statusCode, body, headers } = await app.inject("/metrics");
    t.equal(statusCode, status);
    t.equal(body, `${refusal}: no\n`);
    t.equal("www-authenticate" in headers, status === 401);
  }
});
