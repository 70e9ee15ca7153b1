import { Cluster } from "../../../gen/cnct/kaas/api/api_pb.ts";
import { ClusterService } from "../../../gen/hostplane/v1/cluster_pb.ts";
import { plannersOf } from "../../domain/change.ts";
import type { Activity, DomainContext, DomainServices } from "../../domain/domain-services.ts";
import { startPurge } from "../../store/purge.ts";
import { clusterAccess } from "./access.ts";
import { createClusterServiceChanges } from "./changes/cluster-service-changes.ts";
import { createKaasChanges } from "./changes/kaas-changes.ts";
import { createClusterService } from "./cluster-service.ts";
import { createClusters } from "./clusters.ts";
import { createMaasBackend } from "./monitoring/backend.ts";
import { createClusterFigures } from "./monitoring/figures.ts";
import { createClusterResources } from "./monitoring/resources.ts";
import { createClusterOperations } from "./operations/cluster-operations.ts";
import { createKaasService } from "./service.ts";
import { createClusterImages } from "./specs/cluster-images.ts";
import { createStrays } from "./strays/strays.ts";
import type { ClusterSystem } from "./system/system.ts";

/** How long released machines and the events of machines are kept. */
const keepMs = 90 * 86_400_000;
const purgeBatch = 500;

/** Creates the services for Kubernetes clusters on MAAS machines. */
export function serveClusters(system: ClusterSystem, context: DomainContext): DomainServices {
  const { maas } = system;
  const images = createClusterImages(maas);
  const parts = { ...context, ...system, images, seal: context.clusterSeal };
  const clusters = createClusters(parts);
  const strays = createStrays(parts);
  const operations = createClusterOperations({ ...context, specs: clusters.specs, maasUrl: maas.url });
  const kaasChanges = createKaasChanges(clusters.specs, operations);
  const serviceChanges = createClusterServiceChanges(clusters.kubeconfigs, strays);
  const resources = createClusterResources(clusters.states);

  function beginSchedules(): Activity {
    const reconciling = beginReconciler();
    const sweep = strays.begin();
    const purge = beginPurge(context);
    return {
      async close() {
        const reconciler = await reconciling;
        await Promise.all([reconciler.close(), sweep.close(), purge.stop()]);
      },
    };
  }

  /** Loads the reconciler in the background, so that the gateway answers calls before it is ready. */
  async function beginReconciler() {
    const { createReconciler } = await import("./reconcile/reconciler.ts");
    const reconciler = createReconciler(parts);
    reconciler.begin();
    return reconciler;
  }

  return {
    registrations: [
      createKaasService(clusters, kaasChanges, context.facts),
      createClusterService(clusters, strays, serviceChanges),
    ],
    planners: [plannersOf(Cluster, kaasChanges), plannersOf(ClusterService, serviceChanges)],
    access: clusterAccess,
    backends: [createMaasBackend(maas, images)],
    inventory: [resources],
    figures: [createClusterFigures(resources)],
    beginSchedules,
  };
}

function beginPurge({ store, log }: DomainContext) {
  return startPurge(
    async () => (await store.run("clusters.purge", { keepMs, limit: purgeBatch })).count === purgeBatch,
    (error) => log.warn("records of machines released long ago could not be removed", error),
  );
}
