import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { test } from "tap";
import { VGService } from "../../../gen/proto/lvmd_pb.ts";
import { startGatewayUnderTest } from "../harness/gateway-under-test.ts";
import { streamProtocols } from "../harness/protocols.ts";
import { standInLvm } from "./stand-in-lvm.ts";
import { type CollectedSpan, startTraceCollector } from "./trace-collector.ts";

const createLv = "proto.LVService/CreateLV";
const list = "proto.VGService/GetLVList";
const callersTrace = "0af7651916cd43dd8448eb211c80319c";
const callersSpan = "b7ad6b7169203331";

function post(url: string, rpc: string, body: object, headers: Record<string, string> = {}) {
  return fetch(`${url}/${rpc}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
}

/** Returns the trace as a tree of names, each child below its parent. */
function treeOf(spans: readonly CollectedSpan[], parentId: string | undefined): unknown[] {
  return spans
    .filter(({ parentSpanId }) => parentSpanId === parentId)
    .map(({ name, spanId }) => {
      const children = treeOf(spans, spanId);
      return children.length === 0 ? name : [name, children];
    });
}

test("a trace shows the RPC and the commands it ran", async (t) => {
  const collector = await startTraceCollector(t);
  const { endpoint } = collector;
  const { gateway, url } = await startGatewayUnderTest(t, {
    ...(await standInLvm(t)),
    tracing: { endpoint },
  });
  const traceparent = `00-${callersTrace}-${callersSpan}-01`;
  const answer = await post(url, createLv, { name: "data", sizeGb: 1 }, { traceparent, tracestate: "a=b" });
  t.equal(answer.status, 200, await answer.text());
  await gateway.close();
  const rpc = await collector.span(createLv);

  t.equal(rpc.traceId, callersTrace, "the caller's trace is continued");
  t.equal(rpc.parentSpanId, callersSpan);
  t.equal(answer.headers.get("traceparent"), `00-${callersTrace}-${rpc.spanId}-01`);
  t.equal(rpc.kind, 2);
  t.match(rpc.attributes, {
    "rpc.system.name": "connectrpc",
    "rpc.service": "proto.LVService",
    "rpc.method": createLv,
    "rpc.status_code": "OK",
    "hostplane.resource": "volumeGroups/vg0/volumes/data",
    "hostplane.request_id": answer.headers.get("hostplane-request-id"),
  });
  // The snapshot is read by whichever needs it first: the call, or the observer of changes.
  const own = collector.spans.filter(({ name }) => name !== "snapshot lvm");
  t.strictSame(treeOf(own, callersSpan), [
    [createLv, [["volumes.create", [["step create", ["lvm lvcreate"]]]]]],
  ]);
  const read = await collector.span("lvm fullreport");
  const snapshot = await collector.span("snapshot lvm");
  t.ok(collector.spans.some(({ spanId, name }) => spanId === read.parentSpanId && name === snapshot.name));
  const command = await collector.span("lvm lvcreate");
  t.equal(command.kind, 3);
  t.match(command.attributes, {
    "process.executable.name": "lvm",
    "process.exit.code": 0,
    "hostplane.tool.kind": "mutate",
  });
  t.match(JSON.stringify(command.attributes["process.command_args"]), /"lvcreate".*"--name".*"data"/);
});

test("the span of a failed call has its reason, but not its message", async (t) => {
  const collector = await startTraceCollector(t);
  const { gateway, url } = await startGatewayUnderTest(t, { tracing: { endpoint: collector.endpoint } });
  await (await post(url, createLv, { name: "-words-", sizeGb: 1 })).text();
  await gateway.close();
  const { attributes, statusCode } = await collector.span(createLv);
  t.match(attributes, { "rpc.status_code": "INVALID_ARGUMENT", "hostplane.reason": /^[A-Z_]+$/ });
  t.equal(statusCode, 0, "the caller's fault is not an error of the server");
  t.notMatch(JSON.stringify(collector.requests), "-words-");
});

test("a caller that does not sample is not traced, but its trace is continued", async (t) => {
  const collector = await startTraceCollector(t);
  const { gateway, url } = await startGatewayUnderTest(t, { tracing: { endpoint: collector.endpoint } });
  const unsampled = await post(url, list, {}, { traceparent: `00-${callersTrace}-${callersSpan}-00` });
  t.match(unsampled.headers.get("traceparent"), new RegExp(`^00-${callersTrace}-[0-9a-f]{16}-00$`));
  await post(url, "proto.VGService/GetFreeBytes", {});
  await gateway.close();
  await collector.span("proto.VGService/GetFreeBytes");
  t.strictSame(
    collector.spans.filter(({ name }) => name === list),
    [],
  );
});

test("sampleRatio decides for callers that do not", async (t) => {
  const collector = await startTraceCollector(t);
  const tracing = { endpoint: collector.endpoint, sampleRatio: 0 };
  const { gateway, url } = await startGatewayUnderTest(t, { tracing });
  const answer = await post(url, list, {});
  t.match(answer.headers.get("traceparent"), /-00$/);
  await post(url, list, {}, { traceparent: `00-${callersTrace}-${callersSpan}-01` });
  await gateway.close();
  await collector.span(list);
  t.equal(collector.spans.filter(({ kind }) => kind === 2).length, 1);
});

test("an invalid traceparent begins a new trace", async (t) => {
  const collector = await startTraceCollector(t);
  const { url } = await startGatewayUnderTest(t, { tracing: { endpoint: collector.endpoint } });
  for (const traceparent of ["", "x", `00-${"0".repeat(32)}-${callersSpan}-01`, `00-${callersTrace}-01`]) {
    const answer = await post(url, list, {}, { traceparent });
    t.equal(answer.status, 200);
    t.match(answer.headers.get("traceparent"), /^00-(?!0af7)[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  }
});

test("a stream over any protocol is traced until it ends, and its headers name its trace", async (t) => {
  const collector = await startTraceCollector(t);
  const { url } = await startGatewayUnderTest(t, { tracing: { endpoint: collector.endpoint } });
  const traceparents = await Promise.all(
    streamProtocols.map(async (protocol) => {
      const leaving = new AbortController();
      const client = createClient(VGService, protocol.createTransport(url));
      let traceparent: string | null = null;
      const onHeader = (headers: Headers) => {
        traceparent = headers.get("traceparent");
      };
      for await (const _ of client.watch({}, { signal: leaving.signal, onHeader })) {
        break;
      }
      leaving.abort();
      return traceparent;
    }),
  );
  const spans = await collector.spansOf("proto.VGService/Watch", streamProtocols.length);
  t.strictSame(
    spans.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`).toSorted(),
    traceparents.toSorted(),
  );
  for (const { attributes } of spans) {
    t.match(attributes, { "rpc.status_code": "CANCELLED" });
  }
});

test("records of a call name its trace, others none", async (t) => {
  const collector = await startTraceCollector(t);
  const { url, log: records } = await startGatewayUnderTest(t, {
    tracing: { endpoint: collector.endpoint },
    ...(await standInLvm(t)),
  });
  const answer = await post(url, createLv, { name: "data", sizeGb: 1 });
  const [, traceId] = (answer.headers.get("traceparent") ?? "").split("-");
  t.match(
    records.find(({ msg }) => msg === "call"),
    { trace_id: traceId, span_id: /^[0-9a-f]{16}$/ },
  );
  const command = records.find(
    ({ msg, tool }) => msg === "tool" && JSON.stringify(tool).includes("lvcreate"),
  );
  t.equal(command?.trace_id, traceId, "also those of its commands");
  const outside = records.find(({ msg }) => msg !== "call" && msg !== "tool");
  t.notOk("trace_id" in (outside ?? {}));
});

test("headers for the collector come from their file", async (t) => {
  const collector = await startTraceCollector(t);
  const directory = await mkdtemp(join(tmpdir(), "hostplane-traces-"));
  t.teardown(() => rm(directory, { recursive: true }));
  const headersFile = join(directory, "headers");
  await writeFile(headersFile, "# of the collector\nauthorization: Bearer of-the-collector\n");
  const { gateway, url, log } = await startGatewayUnderTest(t, {
    tracing: { endpoint: collector.endpoint, headersFile },
  });
  await post(url, list, {});
  await gateway.close();
  await collector.span(list);
  t.match(collector.requests, [{ headers: { authorization: "Bearer of-the-collector" } }]);
  t.notMatch(JSON.stringify(log), "of-the-collector");
  const missing = { endpoint: collector.endpoint, headersFile: join(directory, "none") };
  await t.rejects(startGatewayUnderTest(t, { tracing: missing }), { message: /tracing\.headersFile .*none/ });
});

test("spans are sent when the gateway ends", async (t) => {
  const collector = await startTraceCollector(t);
  const { gateway, url } = await startGatewayUnderTest(t, { tracing: { endpoint: collector.endpoint } });
  await post(url, list, {});
  await gateway.close();
  t.match(
    collector.spans.filter(({ kind }) => kind === 2),
    [{ name: list }],
  );
});

/** Returns a loopback port that nothing listens on. */
async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test("an unreachable collector does not slow calls, is reported once, and delays the end by at most 2 s", async (t) => {
  const endpoint = `http://127.0.0.1:${await closedPort()}/v1/traces`;
  const limits = { caller: { requestsPerSecond: 1_000_000 } };
  const { gateway, url, log } = await startGatewayUnderTest(t, { limits, tracing: { endpoint } });
  for (let batch = 0; batch < 60; batch += 1) {
    const answers = await Promise.all(Array.from({ length: 50 }, () => post(url, list, {})));
    for (const answer of answers) {
      await answer.arrayBuffer();
    }
    if (!answers.every(({ status }) => status === 200)) {
      t.fail("a call failed");
    }
  }
  const closingAtMs = performance.now();
  await gateway.close();
  t.ok(performance.now() - closingAtMs < 9_000, `closed after ${performance.now() - closingAtMs} ms`);
  t.ok(log.filter(({ msg }) => String(msg).startsWith("traces cannot be sent")).length <= 1);
});
