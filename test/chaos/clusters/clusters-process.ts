import { spawn } from "node:child_process";
import { once } from "node:events";
import { openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Test } from "tap";
import type { ClustersWorld } from "./clusters-world.ts";

const program = fileURLToPath(new URL("clusters-gateway.ts", import.meta.url));

/** A gateway in a separate process. */
export interface ClustersGateway {
  /** e.g. `http://127.0.0.1:40123` */
  readonly url: string;
  readonly pid: number;
  /** Number of visits to each boundary, by name. */
  readonly visits: ReadonlyMap<string, number>;
  /** Resolves when the process has ended for any reason; `isOwnDoing` is true if it killed itself at its boundary. */
  readonly ended: Promise<{ readonly isOwnDoing: boolean }>;
  signal(signal: NodeJS.Signals): void;
}

/** Starts gateways with one configuration and one data directory. */
export interface ClustersHome {
  /** Starts a gateway and waits until it responds; undefined if it died at its boundary before that. */
  start(failpoint?: Failpoint): Promise<ClustersGateway | undefined>;
  /** Returns the log of all its gateways. */
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
  /** A PostgreSQL that gateways share, with the key that they then need; default: SQLite in the directory. */
  readonly shared?: { readonly storeUrl: string; readonly keyFile: string };
  /** Settings of `clusters` that override those of the storm. */
  readonly clusters?: Readonly<Record<string, unknown>>;
}

/** The MAAS in the gateways' configuration. */
export interface HomeWorld extends Pick<ClustersWorld, "apiKey" | "endpointAddresses"> {
  readonly maas: { readonly url: string };
}

/** @param options includes an existing directory for configuration and log */
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
  // JSON is valid YAML.
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
      child.on("message", ({ points = [], addresses = [] }: Reported) => {
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

interface Reported {
  readonly points?: readonly string[];
  readonly addresses?: readonly string[];
}
