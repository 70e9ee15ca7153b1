import { readFile } from "node:fs/promises";
import { createMaas } from "../../../../adapters/maas/maas.ts";
import { parseApiKey, parseMaasUrl } from "../../../../adapters/maas/names.ts";
import { createWorkload } from "../../../../adapters/workload/workload.ts";
import { addressesFrom } from "../addresses/address-list.ts";
import type { CniSource } from "../bootstrap/renderer.ts";
import type { ClustersConfig } from "../config.ts";
import type { ClusterSettings } from "../specs/cluster-settings.ts";
import { type ClusterSystem, clusterSystem } from "./system.ts";

const minuteMs = 60_000;

/** Limit for a CNI manifest. Calico's, a large one, has 300 KiB. */
const maxManifestBytes = 1 << 20;

/**
 * Connects to the configured MAAS.
 * @throws Error that names the configuration key, and the file that cannot be read or is invalid
 */
export async function openRealClusters(config: ClustersConfig): Promise<ClusterSystem> {
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
