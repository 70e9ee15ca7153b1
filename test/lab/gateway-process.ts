import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** What the tests of volumes call. */
const services = [
  "proto.LVService",
  "proto.VGService",
  "hostplane.v1.SystemService",
  "hostplane.v1.PlanService",
  "hostplane.v1.OperationService",
  "grpc.health.v1.Health",
];

const main = fileURLToPath(new URL("../../server/main.ts", import.meta.url));

/** A gateway in a process of its own, as a user starts it. */
export interface GatewayProcess {
  /** `http://127.0.0.1:port` */
  readonly url: string;
  readonly pid: number;
  /** Ends it as `kill` does, and waits until it is gone. */
  kill(signal: NodeJS.Signals): Promise<void>;
}

/**
 * Starts `hostplane serve --config FILE` and waits until it answers.
 * @param configFile is written: `volumes` in it, and a free port of loopback that asks for no login; what the gateway
 *   keeps is beside it
 */
export async function startGatewayProcess(
  configFile: string,
  volumes: Readonly<Record<string, unknown>>,
): Promise<GatewayProcess> {
  // JSON is YAML.
  const settings = {
    listen: [{ address: "127.0.0.1:0", auth: "none", role: "operator", services }],
    data: join(dirname(configFile), "data"),
    log: { format: "json" },
    limits: { caller: { requestsPerSecond: 1_000_000, streams: 10_000, mutations: 10_000 } },
    volumes,
  };
  writeFileSync(configFile, JSON.stringify(settings));
  const child = spawn(process.execPath, [main, "serve", "--config", configFile], {
    stdio: ["ignore", "inherit", "pipe"],
  });
  const url = await addressOf(child);
  return {
    url,
    pid: child.pid ?? 0,
    async kill(signal) {
      if (child.exitCode === null && child.signalCode === null) {
        const isGone = once(child, "exit");
        child.kill(signal);
        await isGone;
      }
    },
  };
}

/** Reads the address from the record that says it; the rest of the log is dropped. */
async function addressOf(child: ChildProcess): Promise<string> {
  let seen = "";
  return new Promise((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`the gateway ended with ${code}: ${seen}`)));
    child.stderr?.on("data", (chunk: Buffer) => {
      seen = `${seen}${chunk}`.slice(-100_000);
      const address = /"addresses":\["([^"]+)"/.exec(seen)?.[1];
      if (address !== undefined) {
        resolve(`http://${address}`);
      }
    });
  });
}
