import { readFile } from "node:fs/promises";
import type { MaasAdapter } from "../../../adapters/maas/adapter.ts";
import { createDeferredMaas } from "../../../adapters/maas/deferred-maas.ts";
import type { FakeRegion } from "../../../adapters/maas/fake/region.ts";
import { parseApiKey, parseMaasUrl } from "../../../adapters/maas/names.ts";
import type { WorkloadAdapter } from "../../../adapters/workload/adapter.ts";
import { createDeferredWorkload } from "../../../adapters/workload/deferred-workload.ts";
import type { BootedMachine } from "../../../adapters/workload/fake/boot.ts";
import { addressesFrom } from "../../config/address-list.ts";
import type { ClustersConfig } from "../../config/schema.ts";
import type { CniSource } from "./bootstrap/renderer.ts";
import type { ClusterSettings } from "./cluster-settings.ts";

/** The systems behind the clusters domain. */
export interface ClusterSystem {
  readonly maas: MaasAdapter;
  /** The created clusters. */
  readonly workload: WorkloadAdapter;
  readonly settings: ClusterSettings;
  close(): Promise<void>;
}

const minuteMs = 60_000;

/** Limit for a CNI manifest. Calico's, a large one, has 300 KiB. */
const maxManifestBytes = 1 << 20;

/** Settings of the sandbox's clusters: each has its own address, and machines take seconds. */
const sandboxSettings: ClusterSettings = {
  endpoints: addressesFrom("10.20.0.220-10.20.0.250") ?? [],
  // The sandbox's addresses may belong to real hosts; a name under .invalid never resolves.
  kubeconfigHost: (name) => `${name}.sandbox.invalid`,
  kubeVipImage: "sandbox.invalid/kube-vip:v1",
  cni: { manifest: "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: sandbox-network\n" },
  network: { podSubnet: "10.244.0.0/16", serviceSubnet: "10.96.0.0/12", dnsDomain: "cluster.local" },
  imageRepository: undefined,
  machines: {},
  deployTimeoutMs: 2 * minuteMs,
  joinTimeoutMs: minuteMs,
  drainTimeoutMs: minuteMs / 2,
  pollMs: 300,
  watchMs: 5_000,
  sweepMs: 5 * minuteMs,
  // No machine was allocated before the start, so nothing needs a first sweep; a sweep would only create this MAAS early.
  firstSweepMs: 5 * minuteMs,
  leaseMs: 30_000,
};

/**
 * Creates an in-memory MAAS with machines, and the clusters made of them. They touch nothing of the host, and are created on
 * first use.
 */
export function createSandboxClusters(): ClusterSystem {
  let region: FakeRegion | undefined;
  const as = { kind: "sandbox", url: "http://sandbox.invalid/MAAS" } as const;
  const maas = createDeferredMaas(as, async () => {
    const { createMaasSandbox } = await import("../../../adapters/maas/sandbox.ts");
    const sandbox = await createMaasSandbox();
    region = sandbox.fake.region;
    return sandbox;
  });
  const workload = createDeferredWorkload("sandbox", async () => {
    const { createWorkloadSandbox } = await import("../../../adapters/workload/sandbox.ts");
    return createWorkloadSandbox({ machines: () => (region === undefined ? [] : bootedMachinesOf(region)) });
  });
  return clusterSystem(maas, workload, sandboxSettings);
}

/** Returns the deployed machines of a MAAS that have user data to run. */
export function bootedMachinesOf(region: FakeRegion): BootedMachine[] {
  return region.machines().flatMap((machine) => {
    const { systemId, hostname, address, userData, series, status } = machine;
    const deployed = region.events(systemId).find(({ type }) => type === "Deployed");
    if (status !== "deployed" || address === undefined || userData === undefined || deployed === undefined) {
      return [];
    }
    const version = /k8s=([0-9.]+)/.exec(series)?.[1];
    return {
      systemId,
      hostname,
      address,
      userData: Buffer.from(userData, "base64").toString(),
      deployedAtMs: deployed.atMs,
      ...(version === undefined ? {} : { version }),
    };
  });
}

/**
 * Connects to the configured MAAS.
 * @throws Error that names the configuration key, and the file that cannot be read or is invalid
 */
export async function createRealClusters(config: ClustersConfig): Promise<ClusterSystem> {
  // Loaded only when a MAAS is configured.
  const [{ createMaas }, { createWorkload }] = await Promise.all([
    import("../../../adapters/maas/maas.ts"),
    import("../../../adapters/workload/workload.ts"),
  ]);
  const { url, apiKeyFile, caFile, eraseDisks } = config.maas;
  const [key, ca, cni] = await Promise.all([
    readNamed("clusters.maas.apiKeyFile", apiKeyFile),
    caFile === undefined ? undefined : readNamed("clusters.maas.caFile", caFile),
    readCni(config.cni),
  ]);
  const apiKey = parseApiKey(key, "clusters.maas.apiKeyFile");
  const maas = createMaas({
    url: parseMaasUrl(url, "clusters.maas.url"),
    apiKey,
    ca,
    ...(eraseDisks === undefined ? {} : { eraseDisks }),
  });
  const workload = createWorkload();
  return clusterSystem(maas, workload, clusterSettingsFrom(config, cni));
}

/** @param cni holds the text of the manifest instead of its file name */
export function clusterSettingsFrom(config: ClustersConfig, cni: CniSource): ClusterSettings {
  const { endpoint, network, imageRepository, machines } = config;
  const { minCpuCount: cpuCount, minMemoryMib: memoryMib, ...places } = machines;
  const pollMs = config.pollSeconds * 1000;
  return {
    endpoints: (endpoint?.addresses ?? []).flatMap((text) => addressesFrom(text) ?? []),
    kubeVipImage: endpoint?.kubeVipImage,
    cni,
    network,
    imageRepository,
    machines: {
      ...places,
      ...(cpuCount === undefined ? {} : { cpuCount }),
      ...(memoryMib === undefined ? {} : { memoryMib }),
    },
    deployTimeoutMs: config.deployTimeoutMinutes * minuteMs,
    joinTimeoutMs: config.joinTimeoutMinutes * minuteMs,
    drainTimeoutMs: config.drainTimeoutMinutes * minuteMs,
    pollMs,
    watchMs: 6 * pollMs,
    sweepMs: 30 * pollMs,
    firstSweepMs: 0,
    leaseMs: config.leaseSeconds * 1000,
  };
}

export function clusterSystem(
  maas: MaasAdapter,
  workload: WorkloadAdapter,
  settings: ClusterSettings,
): ClusterSystem {
  return {
    maas,
    workload,
    settings,
    close: async () => void (await Promise.all([maas.close(), workload.close()])),
  };
}

async function readCni(source: ClustersConfig["cni"]): Promise<CniSource> {
  const { manifest, path } = source;
  if (path !== undefined) {
    return { path };
  }
  if (manifest === undefined) {
    throw new TypeError("the schema requires one of manifest and path");
  }
  const text = await readNamed("clusters.cni.manifest", manifest);
  const { parseAllDocuments } = await import("yaml");
  const [mistake] = parseAllDocuments(text).flatMap(({ errors }) => errors);
  if (mistake !== undefined) {
    throw new Error(`clusters.cni.manifest: ${manifest} is not valid YAML: ${mistake.message}`);
  }
  if (text.trim() === "" || Buffer.byteLength(text) > maxManifestBytes) {
    throw new Error(`clusters.cni.manifest: ${manifest} is empty or longer than ${maxManifestBytes} bytes`);
  }
  return { manifest: text };
}

async function readNamed(key: string, file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`${key}: ${file} cannot be read: ${why}`, { cause });
  }
}
