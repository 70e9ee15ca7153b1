import { randomUUID } from "node:crypto";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { Seal } from "../../../crypto/seal.ts";
import { recordChanged } from "../../../store/record-changed.ts";
import type { Store } from "../../../store/store.ts";
import type { ChangeMode } from "../../../store/transaction.ts";
import { sealClusterSecrets } from "../access/cluster-secrets.ts";
import { createBootstrapToken } from "../bootstrap/bootstrap-token.ts";
import { createClusterPki } from "../bootstrap/cluster-pki.ts";
import { formatKubernetesVersion, type KubernetesVersion } from "../bootstrap/kubernetes-version.ts";
import { assertNotStopping, assertOfMaas, findCluster } from "../state/find-cluster.ts";
import type { ClusterChange } from "../store/changes.ts";
import type { ClusterRecord } from "../store/records.ts";
import type { ClusterWithSlots } from "../store/rows.ts";
import type { ClusterImages } from "./cluster-images.ts";
import type { ClusterSpec, NodePoolSpec, PoolSize } from "./cluster-requests.ts";
import { clusterResource } from "./cluster-resource.ts";
import type { ClusterSettings } from "./cluster-settings.ts";
import { clusterChanged, clusterExists, endpointMissing, noEndpoint } from "./cluster-spec-errors.ts";
import { assertImages, createdControlPlaneVersion, imagesIfReadable } from "./image-rules.ts";
import { assertClusterSize, assertHasPools, assertNotUpgrading, assertPoolsAreNew } from "./pool-rules.ts";
import { typesOf, upgradeTo, versionsOf } from "./upgrade-versions.ts";

/** A cluster before a change. */
export type ChangedCluster = ClusterRecord & {
  /** Generation of the cluster with the change; undefined when nothing had to be changed. */
  readonly changedTo: number | undefined;
};

/** The properties of a cluster that are fixed when it is created. */
export interface CreatedCluster {
  readonly name: string;
  readonly uid: string;
  readonly k8sVersion: string;
  readonly controlPlaneVersion: string;
  /** Undefined when the cluster is reached through its first machine. */
  readonly endpoint: string | undefined;
}

type ChangedMode = ChangeMode<ChangedCluster>;

/**
 * Changes the specs of clusters, each in one transaction and without waiting for machines. All except `create` throw
 * InfraError CLUSTER_NOT_FOUND, CLUSTER_OF_OTHER_MAAS and CLUSTER_CHANGED; changes of pools and versions also
 * CLUSTER_STOPPING and UPGRADE_IN_PROGRESS. They return the cluster before the change. A dry run checks everything and changes
 * nothing. With `since`, all also throw RECORD_CHANGED.
 */
export interface ClusterSpecs {
  /**
   * Creates a cluster, also when MAAS does not list its images within 2 s.
   * @throws InfraError CLUSTER_EXISTS, CLUSTER_ENDPOINT_MISSING, NO_ENDPOINT, INVALID_FIELD for `k8s_version` when MAAS lacks
   *   the images
   */
  create(spec: ClusterSpec, actor: string, how?: ChangeMode<CreatedCluster>): Promise<CreatedCluster>;
  /** Deletes a cluster. Does nothing when it is already being deleted. */
  remove(name: string, how?: ChangedMode): Promise<ChangedCluster>;
  /** @throws InfraError POOL_EXISTS, POOL_STOPPING, NO_IMAGE (not checked when MAAS does not list its images within 2 s) */
  addPools(name: string, pools: readonly NodePoolSpec[], how?: ChangedMode): Promise<ChangedCluster>;
  /** @throws InfraError POOL_NOT_FOUND */
  removePools(name: string, names: readonly string[], how?: ChangedMode): Promise<ChangedCluster>;
  /** @throws InfraError POOL_NOT_FOUND */
  scalePools(name: string, sizes: readonly PoolSize[], how?: ChangedMode): Promise<ChangedCluster>;
  /** @throws InfraError UPGRADE_REFUSED, NO_IMAGE, CLUSTER_ENDPOINT_MISSING, and as `ClusterImages.read` */
  upgrade(
    name: string,
    version: KubernetesVersion,
    how?: ChangeMode<UpgradedCluster>,
  ): Promise<UpgradedCluster>;
}

/** A cluster before its upgrade. */
export interface UpgradedCluster {
  readonly cluster: ChangedCluster;
  /** The version that the control plane will have. */
  readonly controlPlaneVersion: string;
}

export interface ClusterSpecsOptions {
  readonly store: Pick<Store, "run">;
  readonly images: ClusterImages;
  readonly seal: Seal;
  readonly settings: Pick<ClusterSettings, "endpoints" | "deployTimeoutMs" | "joinTimeoutMs">;
  readonly maasUrl: string;
}

type Change = Omit<ClusterChange, "name" | "uid" | "generation" | "dryRun">;

const maxTries = 5;
/** Added to the time within which machines must be ready. */
const tokenSlackMs = 600_000;

/** @param options `maasUrl`: clusters of another MAAS are refused; `settings`: the endpoints that clusters get */
export function createClusterSpecs(options: ClusterSpecsOptions): ClusterSpecs {
  const { store, images, seal, settings, maasUrl } = options;
  const { endpoints } = settings;

  /**
   * Changes a cluster based on its current state; starts over if it is changed concurrently.
   * @param decide returns undefined when nothing has to be changed
   */
  async function change(
    name: string,
    { dryRun = false, since }: ChangedMode,
    decide: (found: ClusterWithSlots) => Change | undefined | Promise<Change | undefined>,
  ): Promise<ChangedCluster> {
    for (let tries = 0; tries < maxTries; tries += 1) {
      const found = await findCluster(store, name);
      const { cluster } = found;
      const { uid, generation } = cluster;
      assertOfMaas(cluster, maasUrl);
      if (since !== undefined && (since.uid !== uid || since.generation !== generation)) {
        throw recordChanged(clusterResource(name));
      }
      const decided = await decide(found);
      if (decided === undefined) {
        return { ...cluster, changedTo: undefined };
      }
      const result = await store.run("clusters.change", { ...decided, name, uid, generation, dryRun });
      if (result.ok) {
        return { ...cluster, changedTo: result.generation };
      }
    }
    throw clusterChanged(name);
  }

  async function sealedSecrets(uid: string): Promise<Uint8Array> {
    const nowMs = Date.now();
    const ttlMs = settings.deployTimeoutMs + settings.joinTimeoutMs + tokenSlackMs;
    const firstToken = createBootstrapToken(nowMs, ttlMs);
    return sealClusterSecrets(seal, uid, { pki: await createClusterPki(nowMs), firstToken });
  }

  return {
    async create(spec, actor, { dryRun = false, since } = {}) {
      const { name, controlPlane, pools } = spec;
      assertClusterSize(controlPlane, pools, "worker_node_pools");
      // For an existing cluster this is the error to return, even if a new cluster would fail for other reasons.
      if ((await store.run("clusters.get", { name })) !== undefined) {
        throw clusterExists(name);
      }
      if (controlPlane.count > 1 && endpoints.length === 0) {
        throw endpointMissing(name, `a control plane of ${controlPlane.count} machines`);
      }
      const uid = randomUUID();
      const k8sVersion = formatKubernetesVersion(spec.version);
      const controlPlaneVersion = formatKubernetesVersion(
        createdControlPlaneVersion(spec, await imagesIfReadable(images)),
      );
      const cluster = {
        name,
        uid,
        backend: maasUrl,
        k8sVersion,
        controlPlaneVersion,
        controlPlane,
        pools,
        actor,
      };
      if (since !== undefined && since.controlPlaneVersion !== controlPlaneVersion) {
        throw recordChanged(clusterResource(name));
      }
      const secretsSealed = dryRun ? new Uint8Array() : await sealedSecrets(uid);
      const result = await store.run("clusters.create", {
        cluster: { ...cluster, secretsSealed },
        endpoints: since?.endpoint === undefined ? endpoints : [since.endpoint],
        dryRun,
      });
      if (result.ok) {
        return { name, uid, k8sVersion, controlPlaneVersion, endpoint: result.endpoint };
      }
      if (since !== undefined) {
        throw recordChanged(clusterResource(name));
      }
      throw result.why === "exists" ? clusterExists(name) : noEndpoint(name, endpoints.length);
    },

    remove: (name, how = {}) =>
      change(name, how, ({ cluster }) => (cluster.isDeleting ? undefined : { set: { isDeleting: true } })),

    addPools: (name, pools, how = {}) =>
      change(name, how, async (found) => {
        if (pools.length === 0) {
          return undefined;
        }
        const { cluster } = found;
        assertChangeable(found);
        assertPoolsAreNew(found, pools);
        assertClusterSize(cluster.controlPlane, [...cluster.pools, ...pools], "worker_node_pools");
        const offered = await imagesIfReadable(images);
        if (offered !== undefined) {
          assertImages(cluster, pools, offered);
        }
        return { addPools: pools };
      }),

    removePools: (name, names, how = {}) =>
      change(name, how, (found) => {
        if (names.length === 0) {
          return undefined;
        }
        assertChangeable(found);
        assertHasPools(found.cluster, names);
        return { removePools: names };
      }),

    scalePools: (name, sizes, how = {}) =>
      change(name, how, (found) => {
        if (sizes.length === 0) {
          return undefined;
        }
        const { cluster } = found;
        assertChangeable(found);
        const byName = new Map(sizes.map((size) => [size.name, size]));
        assertHasPools(cluster, [...byName.keys()]);
        const scaled = cluster.pools.map((pool) => byName.get(pool.name) ?? pool);
        assertClusterSize(cluster.controlPlane, scaled, "node_pools");
        const scale = sizes.filter(({ name: pool, count }) =>
          cluster.pools.some((each) => each.name === pool && each.count !== count),
        );
        return scale.length === 0 ? undefined : { scale };
      }),

    async upgrade(name, version, { dryRun = false, since } = {}) {
      let controlPlaneVersion = "";
      const how = { dryRun, ...(since === undefined ? {} : { since: since.cluster }) };
      const cluster = await change(name, how, async (found) => {
        assertChangeable(found);
        if (found.cluster.endpoint === undefined) {
          throw endpointMissing(name, "an upgrade, which replaces every machine,");
        }
        const offered = await images.read();
        const next = upgradeTo(version, versionsOf(found.cluster), typesOf(found.cluster), offered);
        if ("reason" in next) {
          throw new InfraError(next.reason, next.why, { resource: clusterResource(name) });
        }
        controlPlaneVersion = formatKubernetesVersion(next.controlPlane);
        if (since !== undefined && since.controlPlaneVersion !== controlPlaneVersion) {
          throw recordChanged(clusterResource(name));
        }
        return { set: { k8sVersion: formatKubernetesVersion(version), controlPlaneVersion } };
      });
      return { cluster, controlPlaneVersion };
    },
  };
}

function assertChangeable(found: ClusterWithSlots): void {
  assertNotStopping(found.cluster);
  assertNotUpgrading(found);
}
