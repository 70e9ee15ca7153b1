import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "tap";
import { OperationsService } from "../../../gen/operations/v1/operations_pb.ts";
import { LVService } from "../../../gen/proto/lvmd_pb.ts";
import { createCallGateway } from "../../../server/sandbox/call-gateway.ts";
import { startGatewayUnderTest } from "../harness/gateway-under-test.ts";

test("calls over a socket return the response, or fail with the gateway's message", async (t) => {
  const directory = await mkdtemp(join(tmpdir(), "hostplane-"));
  t.teardown(() => rm(directory, { recursive: true }));
  const socketPath = join(directory, "socket");
  await startGatewayUnderTest(t, { listen: [{ address: `unix:${socketPath}` }] });
  const { unary, untilEnd } = createCallGateway(socketPath, new AbortController().signal);
  const { createLV } = LVService.method;
  t.match(await unary(createLV, { name: "data", sizeGb: 1n }), { volume: { name: "data", sizeGb: 1n } });
  await t.rejects(unary(createLV, { name: "data", sizeGb: 1n }), /data/);
  await t.rejects(untilEnd(OperationsService.method.createHypervisor, { id: "" }), /id/);
});
