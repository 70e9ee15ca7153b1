import { pino } from "pino";
import type { Test } from "tap";
import { type Config, configSchema } from "../../server/config/schema.ts";
import { type Gateway, startGateway } from "../../server/gateway.ts";

/** A gateway of the test's own, with what its log said. */
export interface GatewayUnderTest {
  readonly gateway: Gateway;
  /** `http://127.0.0.1:port` of the first listener. */
  readonly url: string;
  /** Every line of the log, as objects. */
  readonly log: readonly Record<string, unknown>[];
}

/**
 * Starts a gateway on a free port of loopback and closes it with the test.
 * @param settings keys of the configuration file; the sandbox is used unless a domain is configured
 */
export async function startGatewayUnderTest(
  t: Test,
  settings: Record<string, unknown> = {},
): Promise<GatewayUnderTest> {
  const config: Config = configSchema.parse({ listen: [{ address: "127.0.0.1:0" }], ...settings });
  const log: Record<string, unknown>[] = [];
  const logger = pino({ level: "debug" }, { write: (line: string) => log.push(JSON.parse(line)) });
  const gateway = await startGateway({
    config,
    isSandbox: config.volumes === undefined,
    version: "0.0.0-test",
    logger,
  });
  t.teardown(() => gateway.close());
  const scheme = config.listen[0]?.tls === undefined ? "http" : "https";
  return { gateway, url: `${scheme}://${gateway.addresses[0]}`, log };
}
