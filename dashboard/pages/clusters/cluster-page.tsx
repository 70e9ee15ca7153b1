import { Link } from "wouter-preact";
import { Cluster } from "../../../gen/cnct/kaas/api/api_pb.ts";
import type { ClusterState } from "../../../gen/hostplane/v1/cluster_pb.ts";
import { Role } from "../../../gen/hostplane/v1/user_pb.ts";
import { propose } from "../../action/action.ts";
import { useWatch } from "../../live/use-watch.ts";
import { ReadState } from "../../parts/read-state.tsx";
import { TimeText } from "../../parts/text/time-text.tsx";
import { client, hasRole } from "../../session.ts";
import { ClusterMachines } from "./cluster-machines.tsx";
import { ClusterNodes } from "./cluster-nodes.tsx";
import { ClusterPools } from "./cluster-pools.tsx";
import { ClusterStatusBadge } from "./cluster-status.tsx";
import { Kubeconfig } from "./kubeconfig.tsx";
import { UpgradeCluster } from "./upgrade-cluster.tsx";
import { wholeClusters } from "./whole-clusters.ts";
import "./clusters.css";

/** One cluster, live: its spec, its status and its actions. */
export function ClusterPage({ name }: { readonly name: string }) {
  const watching = useWatch(
    (options) => wholeClusters(client.clusters.watchClusters({ names: [name] }, options)),
    { key: name },
  );
  return (
    <>
      <p>
        <Link href="/">All clusters</Link>
      </p>
      <h1>{name}</h1>
      <ReadState of={watching}>
        {([cluster]) => (cluster === undefined ? <NoCluster name={name} /> : <KnownCluster of={cluster} />)}
      </ReadState>
    </>
  );
}

function NoCluster({ name }: { readonly name: string }) {
  return <p>There is no cluster {name}. It may have been deleted.</p>;
}

function KnownCluster({ of: cluster }: { readonly of: ClusterState }) {
  const { name, k8sVersion } = cluster;
  const mayChange = hasRole(Role.OPERATOR);
  return (
    <>
      <section class="card stack" aria-label="Status">
        <div class="row" role="status">
          <ClusterStatusBadge status={cluster.status} />
          <span>{cluster.statusMessage}</span>
        </div>
        <ClusterFacts of={cluster} />
      </section>
      <ClusterPools of={cluster} />
      <ClusterNodes cluster={name} />
      <ClusterMachines cluster={name} />
      {mayChange && (
        <div class="cards">
          <UpgradeCluster cluster={name} k8sVersion={k8sVersion} />
          <Kubeconfig cluster={name} />
          <DeleteCluster name={name} />
        </div>
      )}
    </>
  );
}

function ClusterFacts({ of: cluster }: { readonly of: ClusterState }) {
  const { endpoint, k8sVersion, controlPlaneVersion, createdAt } = cluster;
  return (
    <dl class="facts">
      <dt>API servers</dt>
      <dd>{endpoint === "" ? "not assigned yet" : <code>{endpoint}</code>}</dd>
      <dt>Kubernetes</dt>
      <dd>
        {k8sVersion}; control plane {controlPlaneVersion}
      </dd>
      <dt>Created</dt>
      <dd>
        <TimeText at={createdAt} />
      </dd>
    </dl>
  );
}

function DeleteCluster({ name }: { readonly name: string }) {
  return (
    <section class="card stack" aria-labelledby="delete-cluster">
      <h2 id="delete-cluster">Delete</h2>
      <p>Its machines are released to MAAS, and all data on their disks is lost.</p>
      <button
        type="button"
        class="danger"
        onClick={() =>
          propose({
            title: `Delete the cluster ${name}`,
            label: "Delete",
            method: Cluster.method.deleteCluster,
            request: { name },
            isDangerous: true,
          })
        }
      >
        Delete the cluster …
      </button>
    </section>
  );
}
