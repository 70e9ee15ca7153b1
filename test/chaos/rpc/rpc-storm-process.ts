import { pino } from "pino";
import { configSchema } from "../../../server/gateway/config/schema.ts";
import { startGateway } from "../../../server/gateway/start-gateway.ts";

/**
 * A program to be killed: a sandbox with listeners, as users run it. Prints `ready` once it serves. Arguments: JSON of
 * RpcStormArgs.
 */
export interface RpcStormArgs {
  readonly directory: string;
  readonly port: number;
  readonly services: readonly string[];
  /** The boundary of an operation at which the process kills itself. */
  readonly failpoint: string | undefined;
}

const { directory, port, services, failpoint } = JSON.parse(process.argv[2] ?? "") as RpcStormArgs;
await startGateway({
  config: configSchema.parse({
    data: directory,
    listen: [{ address: `127.0.0.1:${port}`, auth: "none", role: "operator", services }],
    limits: { caller: { requestsPerSecond: 10_000, mutations: 1000, cpuMsPerSecond: 1_000_000 } },
    host: "storm",
  }),
  isSandbox: true,
  version: "0.0.0-test",
  logger: pino({ level: "silent" }),
  secrets: { adminPassword: "the admin of a storm" },
  boundary(name) {
    if (name === failpoint) {
      process.kill(process.pid, "SIGKILL");
    }
  },
  onFatal: (error) => {
    throw error;
  },
});
process.stdout.write("ready\n");
