import { ClusterStatus, ClusterStatusSchema } from "../../../gen/cnct/kaas/api/api_pb.ts";
import type { ClusterState } from "../../../gen/hostplane/v1/cluster_pb.ts";
import type { Backend } from "../../../gen/hostplane/v1/system_pb.ts";
import { firstMessage } from "../../live/first-message.ts";
import { useRead } from "../../live/use-read.ts";
import { ReadState } from "../../parts/read-state.tsx";
import { client } from "../../session.ts";
import { DomainCard } from "./domain-card.tsx";
import { type Figure, Figures } from "./figures.tsx";

/** The number of Kubernetes clusters by status, and the number of machines that are nodes. */
export function ClustersCard({ backends }: { readonly backends: readonly Backend[] }) {
  return (
    <DomainCard title="Clusters" path="/clusters" domain="clusters" backends={backends}>
      {() => <ClusterFigures />}
    </DomainCard>
  );
}

function ClusterFigures() {
  const { reading } = useRead(
    (options) => firstMessage((each) => client.clusters.watchClusters({}, each), options),
    { topics: ["clusters"] },
  );
  return (
    <ReadState of={reading}>
      {({ clusters }) =>
        clusters.length === 0 ? (
          <p class="quiet">No Kubernetes clusters yet.</p>
        ) : (
          <Figures of={[...statusFigures(clusters), nodeFigure(clusters)]} />
        )
      }
    </ReadState>
  );
}

function statusFigures(clusters: readonly ClusterState[]): readonly Figure[] {
  const byStatus = Map.groupBy(clusters, ({ status }) => status);
  return [...byStatus].map(([status, { length }]) => ({
    label: (ClusterStatusSchema.value[status]?.name ?? "unknown").toLowerCase().replaceAll("_", " "),
    value: length,
    isBad: status === ClusterStatus.ERROR || status === ClusterStatus.DEGRADED,
  }));
}

function nodeFigure(clusters: readonly ClusterState[]): Figure {
  const pools = clusters.flatMap(({ controlPlane, pools: workers }) =>
    controlPlane === undefined ? workers : [controlPlane, ...workers],
  );
  const ready = pools.reduce((sum, pool) => sum + pool.ready, 0);
  const desired = pools.reduce((sum, pool) => sum + pool.wanted, 0);
  return { label: "nodes joined", value: `${ready} of ${desired}` };
}
