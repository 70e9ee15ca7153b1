import type { CephAdapter, CephState } from "../../../../adapters/ceph/adapter.ts";
import type { Part } from "../../../../adapters/host/part-of-state.ts";
import type { Snapshot } from "../../../../adapters/host/snapshot.ts";
import type { KubernetesAdapter, KubernetesState } from "../../../../adapters/kubernetes/adapter.ts";
import type { Backend, BackendStatus } from "../../../domain/backend.ts";

/** Names of the members that may be missing. */
type PartOf<State> = {
  [Name in keyof State]: State[Name] extends Part<unknown> ? Name : never;
}[keyof State];

/** Names of the parts in the header `hostplane-missing`, or common names for parts that no field of GetClusterStats has. */
const cephParts: Readonly<Record<PartOf<CephState>, string>> = {
  mons: "services.mon",
  mgrs: "services.mgr",
  mdss: "services.mds",
  osds: "services.osd",
  rgws: "services.rgw",
  pools: "data.pools",
  pgs: "data.pools.pgs",
  objects: "data.objects",
  usage: "data.usage",
  rbdImageCount: "data.volumes",
  subvolumeCount: "data.volumes",
  clientIo: "iops",
  recovery: "recovery",
  crashes: "crashes",
  hosts: "hosts",
  osdUsage: "usage of OSDs",
  scrubs: "scrubs",
};

const kubernetesParts: Readonly<Record<PartOf<KubernetesState>, string>> = {
  nodes: "nodes",
  storagePods: "pods",
  deployments: "Deployments",
  cephClusters: "CephClusters",
  blockPools: "CephBlockPools",
  filesystems: "CephFilesystems",
  objectStores: "CephObjectStores",
  koorClusters: "KoorClusters",
};

/** How long a status waits for the version, which takes longer to read than a cached state. */
const versionPatienceMs = 500;

/**
 * Creates the Ceph backend, as ListBackends, the health service and `hostplane doctor` report it. It is degraded while a part
 * cannot be read or the state cannot be refreshed. Health checks of Ceph itself do not affect it.
 * @param versionKeepMs how long the version is cached; Ceph may be upgraded meanwhile
 */
export function createCephBackend(ceph: CephAdapter, versionKeepMs = 5 * 60_000): Backend {
  // Requests for the status do not make the cluster be read more often.
  const passive = { isWatching: false };
  const versionOf = createVersion(ceph, versionKeepMs);
  return {
    domain: "storage",
    name: "ceph",
    kind: ceph.kind,
    services: ["stats.StatsService", "hostplane.v1.StorageService"],
    status: () =>
      statusOf(
        () => ceph.read(undefined, passive),
        (state) => missingOf(state, cephParts),
        versionOf,
      ),
    subscribe: (onChange) => ceph.subscribe(onChange, passive),
  };
}

/**
 * Creates the Kubernetes backend, which is degraded under the same conditions. Unreadable KoorClusters do not count, since a
 * cluster with only Rook has none.
 */
export function createKubernetesBackend(kubernetes: KubernetesAdapter): Backend {
  return {
    domain: "storage",
    name: "kubernetes",
    kind: kubernetes.kind,
    services: ["stats.StatsService"],
    status: () =>
      statusOf(
        () => kubernetes.read(),
        (state) => missingOf(state, kubernetesParts),
        async ({ version }) => version,
        ({ koorClusters, ...others }) => missingOf(others, kubernetesParts).length === 0,
      ),
    subscribe: (onChange) => kubernetes.subscribe(onChange),
  };
}

async function statusOf<State>(
  read: () => Promise<Snapshot<State> & { readonly staleBecause: string | undefined }>,
  missingIn: (state: State) => readonly string[],
  versionOf: (state: State) => Promise<string | undefined>,
  isWhole: (state: State) => boolean = (state) => missingIn(state).length === 0,
): Promise<BackendStatus> {
  try {
    const { value, readAtMs, staleBecause } = await read();
    const missing = [...(staleBecause === undefined ? [] : [staleBecause]), ...missingIn(value)];
    const health = staleBecause === undefined && isWhole(value) ? "ok" : "degraded";
    const version = await versionOf(value);
    return { health, version, missing, snapshotAgeMs: performance.now() - readAtMs };
  } catch (error) {
    const missing = [error instanceof Error ? error.message : String(error)];
    return { health: "unavailable", version: undefined, missing, snapshotAgeMs: undefined };
  }
}

/** Returns one text per reason, for example `services.mgr, crashes: no manager is active`. */
function missingOf<State extends object>(
  state: State,
  names: Readonly<Partial<Record<keyof State, string>>>,
): string[] {
  const namesOf = new Map<string, Set<string>>();
  for (const [key, name] of Object.entries<string | undefined>(names)) {
    const part: unknown = state[key as keyof State];
    if (name !== undefined && isMissing(part)) {
      namesOf.set(part.missing, (namesOf.get(part.missing) ?? new Set()).add(name));
    }
  }
  return [...namesOf].map(([reason, all]) => `${[...all].join(", ")}: ${reason}`);
}

function isMissing(part: unknown): part is { readonly missing: string } {
  return typeof part === "object" && part !== null && "missing" in part;
}

/** Caches the version. It is queried until it is known, and again after `keepMs` or when another manager becomes active. */
function createVersion(
  ceph: Pick<CephAdapter, "inspect">,
  keepMs: number,
): (state: CephState) => Promise<string | undefined> {
  let version: string | undefined;
  let manager: string | undefined;
  let inspectedAtMs = Number.NEGATIVE_INFINITY;
  let inspecting: Promise<void> | undefined;

  async function inspect(): Promise<void> {
    ({ version } = await ceph.inspect());
    inspecting = undefined;
  }

  return async ({ mgrs }) => {
    const active = ("ok" in mgrs ? mgrs.ok.active : undefined) ?? manager;
    const isOld = performance.now() - inspectedAtMs >= keepMs;
    if (inspecting === undefined && (version === undefined || active !== manager || isOld)) {
      manager = active;
      inspectedAtMs = performance.now();
      inspecting = inspect();
    }
    if (inspecting !== undefined) {
      const { promise: elapsed, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, versionPatienceMs);
      await Promise.race([inspecting, elapsed]);
      clearTimeout(timer);
    }
    return version;
  };
}
