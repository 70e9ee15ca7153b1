import { type Test, test } from "tap";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { snapshotChannel } from "../../../adapters/host/observation.ts";
import { hostReasons } from "../../../adapters/host/reasons.ts";
import { activeSpan, traceLogFields } from "../../../server/observability/active-span.ts";
import { startTracing } from "../../../server/observability/tracing.ts";
import { createCall } from "../rpc/call/call-under-test.ts";
import { startTraceCollector } from "./trace-collector.ts";

async function start(t: Test) {
  const { endpoint, spans } = await startTraceCollector(t);
  const onExportFailed = (error: Error | undefined) => t.fail(String(error));
  const options = { endpoint, sampleRatio: 1, version: "0.0.0-test", isSandbox: true, onExportFailed };
  return { tracing: await startTracing(options), spans };
}

const load = () => snapshotChannel.tracePromise(async () => "state", { system: "lvm" });

const currentHeaders = () => activeSpan.getStore()?.headers() ?? {};

test("the code of a call runs in its span", async (t) => {
  const { tracing } = await start(t);
  t.strictSame(currentHeaders(), {}, "outside of calls there is none");
  let answered: string | undefined;
  const call = {
    ...createCall(),
    header: (name: string) => (name === "tracestate" ? "vendor=1" : callersTraceparent),
    setHeader: (_name: string, value: string) => {
      answered = value;
    },
  };
  const callersTraceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const span = tracing.startRpc(call);
  await span.run(async () => {
    await new Promise((resolve) => setImmediate(resolve));
    t.strictSame(currentHeaders(), { traceparent: answered, tracestate: "vendor=1" });
    t.match(traceLogFields(), { trace_id: "0af7651916cd43dd8448eb211c80319c" });
    await snapshotChannel.tracePromise(
      async () => {
        t.match(currentHeaders().traceparent, /^00-0af7651916cd43dd8448eb211c80319c-/);
        t.not(currentHeaders().traceparent, answered, "the child span, if there is one");
      },
      { system: "maas" },
    );
  });
  span.end(undefined);
  await tracing.close();
});

test("work that outlives its call stays in the trace; work for no call is in none", async (t) => {
  const { tracing, spans } = await start(t);
  const span = tracing.startRpc(createCall());
  const after = Promise.withResolvers<void>();
  const work = span.run(async () => {
    await after.promise;
    await load();
  });
  span.end(new InfraError(hostReasons.CALLER_LEFT, "words of a caller"));
  after.resolve();
  await work;
  await load();
  await tracing.close();
  t.strictSame(
    spans.map(({ name }) => name),
    ["proto.VGService/Watch", "snapshot lvm"],
  );
  t.equal(spans[1]?.parentSpanId, spans[0]?.spanId);
  t.notMatch(JSON.stringify(spans), "words");
});

test("the span of failed work has its reason, or INTERNAL, but not its message", async (t) => {
  const { tracing, spans } = await start(t);
  const span = tracing.startRpc(createCall());
  for (const error of [new InfraError(hostReasons.TOOL_TIMEOUT, "words"), new Error("words")]) {
    const failing = () => snapshotChannel.tracePromise(() => Promise.reject(error), { system: "lvm" });
    await t.rejects(span.run(failing), { message: "words" });
  }
  span.end(undefined);
  await tracing.close();
  t.match(spans, [
    { name: "snapshot lvm", statusCode: 2, attributes: { "error.type": "TOOL_TIMEOUT" } },
    { name: "snapshot lvm", statusCode: 2, attributes: { "error.type": "INTERNAL" } },
    { name: "proto.VGService/Watch", statusCode: 0 },
  ]);
  t.notMatch(JSON.stringify(spans), "words");
});

test("a trace has at most a thousand spans below its call's", async (t) => {
  const { tracing, spans } = await start(t);
  const span = tracing.startRpc(createCall());
  for (let each = 0; each < 1_100; each += 1) {
    await span.run(load);
  }
  span.end(undefined);
  await tracing.close();
  t.equal(spans.length, 1_001);
});
