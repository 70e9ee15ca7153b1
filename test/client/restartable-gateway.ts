import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Test } from "tap";
import { freePort } from "../server/harness/free-port.ts";
import { startGatewayUnderTest, type UnderTestOptions } from "../server/harness/gateway-under-test.ts";

/** A gateway that restarts at the same address with the same data. The sandbox's in-memory systems are created again. */
export interface RestartableGateway {
  readonly url: string;
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** Starts a gateway with logins on a free port of loopback; it is closed with the test. */
export async function startRestartableGateway(
  t: Test,
  options: UnderTestOptions = {},
): Promise<RestartableGateway> {
  const data = await mkdtemp(join(tmpdir(), "hostplane-client-"));
  t.teardown(() => rm(data, { recursive: true, force: true }));
  const listen = [{ address: `127.0.0.1:${await freePort()}` }];
  const start = () => startGatewayUnderTest(t, { data, listen }, { hasLogin: true, ...options });
  let { gateway, url } = await start();
  return {
    url,
    stop: () => gateway.close(),
    async start() {
      ({ gateway } = await start());
    },
  };
}
