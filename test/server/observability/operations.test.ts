import { type Test, test } from "tap";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../adapters/host/reasons.ts";
import { createMetrics, type MetricsOptions } from "../../../server/observability/metrics.ts";
import { startTracing } from "../../../server/observability/tracing.ts";
import { storeReasons } from "../../../server/store/reasons.ts";
import { createCountingKind } from "../operations/counting-kind.ts";
import { createEngine } from "../operations/engine-under-test.ts";
import { openOwnStore } from "../store/own-store.ts";
import { samplesFrom } from "./metrics-text.ts";
import { startTraceCollector } from "./trace-collector.ts";

function metricsOf(t: Test, options: Partial<MetricsOptions>) {
  const metrics = createMetrics({ version: "test", isSandbox: true, backends: [], ...options });
  t.teardown(() => metrics.close());
  return async () => samplesFrom(await metrics.text());
}

const ended = (outcome: string, what = "count") =>
  `hostplane_operation_duration_seconds_${what}{kind="test.count",outcome="${outcome}"}`;
const running = 'hostplane_operations_running{kind="test.count"}';

test("operations are counted by state while they are open, and then by outcome", async (t) => {
  const store = await openOwnStore(t);
  const counting = createCountingKind();
  const { operations, start, end } = createEngine(t, {
    store,
    kind: counting.kind,
    limits: { perSystem: 1 },
  });
  const read = metricsOf(t, { countOperations: operations.counts });
  const states = async () => {
    const samples = await read();
    return ["scheduled", "active", "undoing", "needsAttention"].map((state) =>
      samples.get(`hostplane_operations{state="${state}"}`),
    );
  };
  t.same(await states(), [0, 0, 0, 0]);

  const reached = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  counting.before("forward second", async () => {
    reached.resolve();
    await gate.promise;
  });
  const first = await start();
  const second = await start();
  await reached.promise;
  t.same(await states(), [1, 1, 0, 0]);
  t.equal((await read()).get(running), 1);
  await operations.cancel(second.id);
  gate.resolve();
  await end(first.id);
  t.same(await states(), [0, 0, 0, 0]);

  counting.before("forward second", () => {
    throw new InfraError(hostReasons.TOOL_FAILED, "no");
  });
  await end((await start()).id);
  counting.before("undo second", () => {
    throw new InfraError(hostReasons.TOOL_FAILED, "no");
  });
  await end((await start()).id);
  t.same(await states(), [0, 0, 0, 1]);
  await operations.close();
  const samples = await read();
  for (const outcome of ["done", "cancelled", "failed", "needsAttention"]) {
    t.equal(samples.get(ended(outcome)), 1, outcome);
  }
  t.equal(samples.get(ended("cancelled", "sum")), 0, "it was never started");
  t.equal(samples.get(running), 0);
});

test("while the store does not count its operations no number is reported; other metrics are", async (t) => {
  const counts = { scheduled: 1, active: 2, undoing: 0, needsAttention: 0 };
  const answers = [
    async () => counts,
    () => Promise.reject(new InfraError(storeReasons.STORE_UNAVAILABLE, "down")),
    async () => counts,
    () => new Promise<never>(() => {}),
  ];
  const read = metricsOf(t, {
    countOperations: async () => (await answers.shift()?.()) ?? counts,
    patienceMs: 50,
  });
  const active = 'hostplane_operations{state="active"}';
  for (const expected of [2, undefined, 2, undefined]) {
    const samples = await read();
    t.equal(samples.get(active), expected);
    t.equal(samples.get('hostplane_build_info{version="test",sandbox="true"}'), 1);
  }
});

test("a run of an operation is a trace of its own, with its steps", async (t) => {
  const collector = await startTraceCollector(t);
  const tracing = await startTracing({
    endpoint: collector.endpoint,
    sampleRatio: 1,
    version: "test",
    isSandbox: true,
    onExportFailed: () => t.fail(),
  });
  t.teardown(() => tracing.close());
  const counting = createCountingKind();
  counting.before("forward second", () => {
    throw new InfraError(hostReasons.TOOL_FAILED, "words");
  });
  const { operations, start, end } = createEngine(t, { store: await openOwnStore(t), kind: counting.kind });
  const { id } = await start({ resource: "things/a" });
  await end(id);
  await operations.close();
  await tracing.close();
  const root = await collector.span("test.count");
  t.equal(root.parentSpanId, undefined);
  t.match(root.attributes, {
    "hostplane.operation.id": id,
    "hostplane.operation.kind": "test.count",
    "hostplane.resource": "things/a",
  });
  const steps = collector.spans.filter(({ parentSpanId }) => parentSpanId === root.spanId);
  t.same(
    steps.map(({ name, attributes }) => [name, attributes["error.type"]]),
    [
      ["step first", undefined],
      ["step second", "TOOL_FAILED"],
      ["step undo second", undefined],
      ["step undo first", undefined],
    ],
  );
  t.notMatch(JSON.stringify(collector.requests), "words");
});
