import { test } from "tap";
import { startGatewayUnderTest } from "../server/harness/gateway-under-test.ts";
import { standInLvm } from "../server/observability/stand-in-lvm.ts";
import { systemTool } from "./foreign-tool.ts";
import { runTool } from "./tool-process.ts";

const { path: promtool, skip } = await systemTool("promtool");

test("promtool accepts the metrics and suggests nothing", { skip }, async (t) => {
  const { url } = await startGatewayUnderTest(t, await standInLvm(t));
  const headers = { "content-type": "application/json" };
  for (const sizeGb of [1, 2]) {
    const body = JSON.stringify({ name: "data", sizeGb });
    await fetch(`${url}/proto.LVService/CreateLV`, { method: "POST", headers, body });
  }
  const text = await (await fetch(`${url}/metrics`)).text();
  t.match(text, 'hostplane_rpc_duration_seconds_bucket{le="0.001",rpc="proto.LVService/CreateLV"');
  const { code, stdout, stderr } = await runTool(promtool, ["check", "metrics"], {
    input: Buffer.from(text),
  });
  t.equal(code, 0, `${stdout}${stderr}`);
});
