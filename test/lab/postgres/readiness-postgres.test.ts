import { randomBytes } from "node:crypto";
import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { type Test, test } from "tap";
import {
  Health,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from "../../../gen/grpc/health/v1/health_pb.ts";
import { LVService, VGService } from "../../../gen/proto/lvmd_pb.ts";
import { startGatewayUnderTest } from "../../server/harness/gateway-under-test.ts";
import { rpcErrorOf } from "../../server/harness/rpc-error.ts";
import { reasonToSkipPostgres, startPostgres } from "./postgres.ts";

const skip = reasonToSkipPostgres();

/** A real gateway without LVM: the test is about the status of its store. */
const volumes = {
  deviceClasses: [{ name: "ssd", volumeGroup: "hostplane-none", default: true }],
  lvm: { command: ["/nonexistent/lvm"] },
};

async function readinessOf(url: string): Promise<{ readonly code: number; readonly status: string }> {
  const response = await fetch(`${url}/readyz`);
  return { code: response.status, status: ((await response.json()) as { status: string }).status };
}

async function untilReadiness(t: Test, url: string, status: string): Promise<void> {
  const patience = AbortSignal.timeout(20_000);
  while (!patience.aborted) {
    if ((await readinessOf(url)).status === status) {
      return;
    }
  }
  t.fail(`the gateway did not become ${status}`);
}

test("gateways whose PostgreSQL is restarted", { skip, timeout: 120_000 }, async (t) => {
  const postgres = await startPostgres(t);
  const key = randomBytes(32).toString("base64");
  const keyFile = join(t.testdir({ key }), "key");
  await chmod(keyFile, 0o600);
  const settings = async () => ({ store: await postgres.createDatabase(), volumes, keyFile });
  const urls = [
    (await startGatewayUnderTest(t, await settings())).url,
    (await startGatewayUnderTest(t, await settings())).url,
  ];
  for (const url of urls) {
    t.same(await readinessOf(url), { code: 200, status: "ready" });
  }
  await postgres.kill();
  for (const url of urls) {
    await untilReadiness(t, url, "storeUnavailable");
    t.equal((await readinessOf(url)).code, 503);
    const transport = createGrpcTransport({ baseUrl: url });
    t.match(await rpcErrorOf(createClient(LVService, transport).removeLV({ name: "data" })), {
      code: "UNAVAILABLE",
      reason: "STORE_UNAVAILABLE",
    });
    t.match(
      await rpcErrorOf(createClient(VGService, transport).getLVList({})),
      { reason: "TOOL_MISSING" },
      "a read is not rejected because of the store",
    );
    const { status } = await createClient(Health, transport).check({ service: "" });
    t.equal(status, ServingStatus.NOT_SERVING);
  }
  await postgres.start();
  for (const url of urls) {
    await untilReadiness(t, url, "ready");
    const transport = createGrpcTransport({ baseUrl: url });
    t.match(
      await rpcErrorOf(createClient(LVService, transport).removeLV({ name: "data" })),
      { reason: "TOOL_MISSING" },
      "a change gets as far as LVM again",
    );
  }
});
