import { test } from "tap";
import { startTraceCollector } from "../../observability/trace-collector.ts";
import { startFleetUnderTest } from "./fleet-under-test.ts";

const createLv = "proto.LVService/CreateLV";
const callersTrace = "0af7651916cd43dd8448eb211c80319c";
const callersSpan = "b7ad6b7169203331";

test("a trace leads from the client through the hub to the host", async (t) => {
  const [ofHub, ofHost] = await Promise.all([startTraceCollector(t), startTraceCollector(t)]);
  const fleet = await startFleetUnderTest(
    t,
    ["node-1"],
    { tracing: { endpoint: ofHub.endpoint } },
    { agentSettings: { tracing: { endpoint: ofHost.endpoint } } },
  );
  const answer = await fetch(`${fleet.hub.url}/hosts/node-1/${createLv}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      authorization: fleet.authorization,
      traceparent: `00-${callersTrace}-${callersSpan}-01`,
    },
    body: JSON.stringify({ name: "traced", sizeGb: 1 }),
  });
  t.equal(answer.status, 200, await answer.text());
  await fleet.hub.gateway.close();
  await fleet.agent("node-1").gateway.close();

  const atHub = await ofHub.span(createLv);
  t.match(atHub, { traceId: callersTrace, parentSpanId: callersSpan });
  t.equal(answer.headers.get("traceparent"), `00-${callersTrace}-${atHub.spanId}-01`);
  const atHost = await ofHost.span(createLv);
  t.match(atHost, { traceId: callersTrace, parentSpanId: atHub.spanId });
  t.ok(
    ofHost.spans.some(({ parentSpanId }) => parentSpanId === atHost.spanId),
    "the host's own work is below",
  );
});
