import { spawn } from "node:child_process";
import { once } from "node:events";
import { openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Test } from "tap";
import type { ClustersWorld } from "./clusters-world.ts";

const program = fileURLToPath(new URL("clusters-gateway.ts", import.meta.url));

/** A gateway in a process of its own. */
export interface ClustersGateway {
  /** As `http://127.0.0.1:40123`. */
  readonly url: string;
  readonly pid: number;
  /** How often it came to a boundary, by name. */
  readonly visits: ReadonlyMap<string, number>;
  /** Resolves when it has ended, however; with whether it did that by itself, at its boundary. */
  readonly ended: Promise<{ readonly isOwnDoing: boolean }>;
  signal(signal: NodeJS.Signals): void;
}

/** Where gateways are started, with one configuration and one data directory. */
export interface ClustersHome {
  /** Starts one, and waits until it answers; undefined when it has died at its boundary before that. */
  start(failpoint?: Failpoint): Promise<ClustersGateway | undefined>;
  /** All that its gateways have logged. */
  log(): string;
}

export interface Failpoint {
  readonly boundary: string;
  readonly visit: number;
}

export interface HomeOptions {
  readonly directory: string;
  readonly pollSeconds: number;
  readonly leaseSeconds?: number;
  /** A PostgreSQL that gateways share, which then need the same key; a SQLite of the directory unless told. */
  readonly shared?: { readonly storeUrl: string; readonly keyFile: string };
  /** Keys of the configuration's `clusters` that differ from those of the storm. */
  readonly clusters?: Readonly<Record<string, unknown>>;
}

/** The MAAS that gateways are configured with. */
export interface HomeWorld extends Pick<ClustersWorld, "apiKey" | "endpointAddresses"> {
  readonly maas: { readonly url: string };
}

/** @param options what configuration and log are written to: a directory that is there */
export function makeClustersHome(t: Test, world: HomeWorld, options: HomeOptions): ClustersHome {
  const { directory, pollSeconds, leaseSeconds = 30, shared } = options;
  const [configFile, keyFile, manifest, logFile] = ["hostplane.yaml", "maas.key", "cni.yaml", "log"].map(
    (name) => join(directory, name),
  ) as [string, string, string, string];
  writeFileSync(keyFile, world.apiKey, { mode: 0o600 });
  writeFileSync(manifest, "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: storm-network\n");
  const settings = {
    listen: [{ address: "127.0.0.1:0", auth: "none", role: "operator", services }],
    data: join(directory, "data"),
    ...(shared && { store: shared.storeUrl, keyFile: shared.keyFile }),
    log: { format: "json", level: "debug" },
    limits: {
      caller: { requestsPerSecond: 1_000_000, streams: 10_000, mutations: 10_000, cpuMsPerSecond: 1_000_000 },
    },
    clusters: {
      maas: { url: world.maas.url, apiKeyFile: keyFile },
      cni: { manifest },
      endpoint: { addresses: [world.endpointAddresses], kubeVipImage: "kube-vip:v1" },
      deployTimeoutMinutes: 1,
      joinTimeoutMinutes: 1,
      drainTimeoutMinutes: 1,
      pollSeconds,
      leaseSeconds,
      ...options.clusters,
    },
  };
  // JSON is YAML.
  writeFileSync(configFile, JSON.stringify(settings));
  const log = openSync(logFile, "a");

  return {
    log: () => readFileSync(logFile, "utf8"),
    async start(failpoint) {
      const more = failpoint === undefined ? [] : [failpoint.boundary, String(failpoint.visit)];
      const child = spawn(process.execPath, [program, configFile, ...more], {
        stdio: ["ignore", log, log, "ipc"],
        env: { ...process.env, NODE_COMPILE_CACHE: join(directory, "compiled") },
      });
      const visits = new Map<string, number>();
      const listening = Promise.withResolvers<string>();
      child.on("message", ({ points = [], addresses = [] }: Told) => {
        for (const point of points) {
          visits.set(point, (visits.get(point) ?? 0) + 1);
        }
        if (addresses[0] !== undefined) {
          listening.resolve(`http://${addresses[0]}`);
        }
      });
      const ended = once(child, "exit").then(([code, signal]) => {
        if (signal !== "SIGKILL") {
          throw new Error(
            `a gateway ended with ${code ?? signal}: ${readFileSync(logFile, "utf8").slice(-4000)}`,
          );
        }
        return { isOwnDoing: !child.killed };
      });
      t.teardown(async () => {
        child.kill("SIGKILL");
        await ended.catch(() => {});
      });
      const url = await Promise.race([listening.promise, ended.then(() => undefined)]);
      return url === undefined
        ? undefined
        : { url, pid: child.pid ?? 0, visits, ended, signal: (name) => void child.kill(name) };
    },
  };
}

const services = ["cnct.kaas.api.Cluster", "hostplane.v1.ClusterService"];

interface Told {
  readonly points?: readonly string[];
  readonly addresses?: readonly string[];
}
