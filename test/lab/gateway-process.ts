import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Services that the tests of volumes, hypervisors, the storage pool and pods call. */
const services = [
  "proto.LVService",
  "proto.VGService",
  "hostplane.v1.SystemService",
  "hostplane.v1.PlanService",
  "hostplane.v1.OperationService",
  "hostplane.v1.BackupService",
  "hostplane.v1.StoragePoolService",
  "hostplane.v1.VolumeService",
  "hostplane.v1.EventService",
  "operations.v1.OperationsService",
  "v1alpha.PublicAPI",
  "hostplane.v1.PodService",
  "grpc.health.v1.Health",
];

/** From the build: a virtual machine without KVM takes minutes to read the two thousand source files. */
const main = fileURLToPath(new URL("../../bin/hostplane.js", import.meta.url));
const mortalGateway = fileURLToPath(new URL("mortal-gateway.ts", import.meta.url));

/** Where a gateway kills itself: at the `visit`th visit to a boundary of an operation. */
export interface Failpoint {
  readonly boundary: string;
  readonly visit: number;
}

/** A gateway in a separate process, started as users start it. */
export interface GatewayProcess {
  /** `http://127.0.0.1:port` */
  readonly url: string;
  readonly pid: number;
  /** Resolves when it has ended for any reason. */
  readonly ended: Promise<void>;
  /** Sends a signal, and waits until the process is gone. */
  kill(signal: NodeJS.Signals): Promise<void>;
}

/**
 * Starts `hostplane serve --config FILE` and waits until it responds.
 * @param configFile is written, with `volumes`, `more` and a free port of loopback without logins; the gateway's data is stored
 * next to it
 * @param failpoint starts it with mortal-gateway.ts instead of `serve`
 */
export async function startGatewayProcess(
  configFile: string,
  volumes: Readonly<Record<string, unknown>> | undefined,
  more: Readonly<Record<string, unknown>> = {},
  failpoint?: Failpoint,
): Promise<GatewayProcess> {
  // JSON is valid YAML.
  const settings = {
    listen: [{ address: "127.0.0.1:0", auth: "none", role: "operator", services }],
    data: join(dirname(configFile), "data"),
    log: { format: "json" },
    limits: {
      // LVM commands of an emulated machine take seconds, and wait for each other.
      maxDeadlineMs: 600_000,
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
  // As in deploy/systemd/hostplane.service.
  const child = spawn(process.execPath, ["--max-semi-space-size=4", ...argv], {
    env: { ...process.env, MALLOC_ARENA_MAX: "1" },
    stdio: ["ignore", "inherit", "pipe"],
  });
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

/** Reads the address from its log line; drops the rest of the log. */
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
