import { InfraError } from "../../../adapters/host/infra-error.ts";
import { Cluster } from "../../../gen/cnct/kaas/api/api_pb.ts";
import { ClusterService } from "../../../gen/hostplane/v1/cluster_pb.ts";
import { createAbsentBackend } from "../../domain/backend.ts";
import { type Activity, type DomainServices, namesOf, type ServicesOptions } from "../../domain/domain-services.ts";
import { createMaasBackend } from "./backend.ts";
import { createClusterImages } from "./cluster-images.ts";
import { createClusterService } from "./cluster-service.ts";
import { createClusters } from "./clusters.ts";
import { createClusterOperations } from "./operations/cluster-operations.ts";
import { createClusterPlanners } from "./planners.ts";
import { createClusterResources } from "./resources.ts";
import { createKaasService } from "./service.ts";
import { createStrays } from "./strays/strays.ts";
import { registerPlanRefusal } from "../../operations/planner.ts";
import { registerRefusal } from "../../rpc/service-handlers.ts";
import { startPurge } from "../../store/purge.ts";

/** How long released machines and the events of machines are kept. */
const keepMs = 90 * 86_400_000;
const purgeBatch = 500;

/** Creates the services for Kubernetes clusters on MAAS machines. */
export function createClustersDomain(options: ServicesOptions): DomainServices {
  const services = [Cluster, ClusterService];
  const { clusters: system } = options.systems;
  if (system === undefined) {
    const missing = "clusters are off: set `clusters` in the configuration";
    const refusal = () => new InfraError("DOMAIN_OFF", missing);
    return {
      registrations: services.map((service) => registerRefusal(service, refusal)),
      planners: services.map((service) => registerPlanRefusal(service, refusal)),
      backends: [createAbsentBackend("clusters", "maas", "off", namesOf(services), missing)],
    };
  }
  const { maas } = system;
  const images = createClusterImages(maas);
  const parts = { ...options, ...system, images, seal: options.clusterSeal };
  const clusters = createClusters(parts);
  const strays = createStrays(parts);
  const operations = createClusterOperations({ ...options, changes: clusters.changes, maasUrl: maas.url });

  function beginSchedules(): Activity {
    const reconciling = beginReconciler();
    const sweep = strays.begin();
    const purge = beginPurge(options);
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
      createKaasService(clusters, operations, options.facts),
      createClusterService(clusters, strays),
    ],
    planners: createClusterPlanners(clusters, strays),
    backends: [createMaasBackend(maas, images)],
    inventory: [createClusterResources(clusters.states)],
    beginSchedules,
  };
}

function beginPurge({ store, log }: ServicesOptions) {
  return startPurge(
    async () => (await store.run("clusters.purge", { keepMs, limit: purgeBatch })).count === purgeBatch,
    (error) => log.warn("records of machines released long ago could not be removed", error),
  );
}
