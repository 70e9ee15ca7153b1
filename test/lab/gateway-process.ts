import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** What the tests of volumes, hypervisors, the storage pool and pods call. */
const services = [
  "proto.LVService",
  "proto.VGService",
  "hostplane.v1.SystemService",
  "hostplane.v1.PlanService",
  "hostplane.v1.OperationService",
  "hostplane.v1.BackupService",
  "hostplane.v1.StoragePoolService",
  "hostplane.v1.EventService",
  "operations.v1.OperationsService",
  "v1alpha.PublicAPI",
  "hostplane.v1.PodService",
  "grpc.health.v1.Health",
];

/** From the build: of the source, a virtual machine without KVM reads two thousand files for minutes. */
const main = fileURLToPath(new URL("../../bin/hostplane.js", import.meta.url));
const mortalGateway = fileURLToPath(new URL("mortal-gateway.ts", import.meta.url));

/** Where a gateway kills itself: at a boundary of an operation's life, when it comes there for the `visit`th time. */
export interface Failpoint {
  readonly boundary: string;
  readonly visit: number;
}

/** A gateway in a process of its own, as a user starts it. */
export interface GatewayProcess {
  /** `http://127.0.0.1:port` */
  readonly url: string;
  readonly pid: number;
  /** Resolves when it has ended, however. */
  readonly ended: Promise<void>;
  /** Ends it as `kill` does, and waits until it is gone. */
  kill(signal: NodeJS.Signals): Promise<void>;
}

/**
 * Starts `hostplane serve --config FILE` and waits until it answers.
 * @param configFile is written: `volumes` and `more` in it, and a free port of loopback that asks for no login; what the
 *   gateway keeps is beside it
 * @param failpoint has it run by mortal-gateway.ts instead of `serve`
 */
export async function startGatewayProcess(
  configFile: string,
  volumes: Readonly<Record<string, unknown>> | undefined,
  more: Readonly<Record<string, unknown>> = {},
  failpoint?: Failpoint,
): Promise<GatewayProcess> {
  // JSON is YAML.
  const settings = {
    listen: [{ address: "127.0.0.1:0", auth: "none", role: "operator", services }],
    data: join(dirname(configFile), "data"),
    log: { format: "json" },
    limits: {
      caller: { requestsPerSecond: 1_000_000, streams: 10_000, mutations: 10_000, cpuMsPerSecond: 1_000_000 },
    },
    ...(volumes === undefined ? {} : { volumes }),
    ...more,
  };
  writeFileSync(configFile, JSON.stringify(settings));
  const argv =
    failpoint === undefined
      ? [main, "serve", "--config", configFile]
      : [mortalGateway, configFile, failpoint.boundary, String(failpoint.visit)];
  const child = spawn(process.execPath, argv, { stdio: ["ignore", "inherit", "pipe"] });
  const ended = once(child, "exit").then(() => {});
  const url = await addressOf(child);
  return {
    url,
    pid: child.pid ?? 0,
    ended,
    async kill(signal) {
      child.kill(signal);
      await ended;
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
