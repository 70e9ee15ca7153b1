import { z } from "zod";
import type { KubernetesDeployment, KubernetesStoragePod } from "./adapter.ts";
import { conditionOf, count, metadata, orElse, orUndefined, status, text } from "./parse-objects.ts";

/** Any pod, of storage or not. */
export interface Pod extends KubernetesStoragePod {
  /** Whether it is a daemon of a CephCluster. */
  readonly isStorage: boolean;
  /** Whether it has succeeded, failed, or is being deleted. */
  readonly hasEnded: boolean;
  /** Its Deployment, derived from the name of its ReplicaSet. */
  readonly deployment: string | undefined;
}

const component = "app.kubernetes.io/component";

export const pod = z
  .object({
    metadata,
    spec: z.object({ nodeName: text }),
    status: orElse(status.extend({ phase: text }), { conditions: [], phase: "" }),
  })
  .transform(
    ({ metadata: { name, labels, ownerReferences, deletionTimestamp }, spec, status: found }): Pod => {
      const replicaSet = ownerReferences.find(({ kind }) => kind === "ReplicaSet")?.name;
      const suffix = `-${labels["pod-template-hash"]}`;
      return {
        name,
        node: spec.nodeName || undefined,
        app: labels.app ?? "",
        isReady: conditionOf(found, "Ready")?.isMet ?? false,
        isStorage: labels[component] === "cephclusters.ceph.rook.io",
        hasEnded: deletionTimestamp !== undefined || found.phase === "Succeeded" || found.phase === "Failed",
        deployment: replicaSet?.endsWith(suffix) ? replicaSet.slice(0, -suffix.length) : undefined,
      };
    },
  );

const noCounts = { replicas: 0, readyReplicas: 0, updatedReplicas: 0, availableReplicas: 0 };
const counts = {
  readyReplicas: orElse(count, 0),
  updatedReplicas: orElse(count, 0),
  availableReplicas: orElse(count, 0),
  observedGeneration: orUndefined(count),
};

/** Schema of a Deployment, without the fields derived from its pods. */
export const deployment = z
  .object({
    metadata,
    // Kubernetes' own default.
    spec: z.object({ replicas: orElse(count, 1) }),
    status: orElse(status.extend(counts), { conditions: [], ...noCounts, observedGeneration: undefined }),
  })
  .transform(
    ({ metadata: { name, namespace, labels, generation }, spec, status: found }): KubernetesDeployment => {
      const progressing = conditionOf(found, "Progressing");
      return {
        namespace,
        name,
        service: serviceOf(labels),
        desiredReplicas: spec.replicas,
        readyReplicas: found.readyReplicas,
        updatedReplicas: found.updatedReplicas,
        availableReplicas: found.availableReplicas,
        isObserved: (found.observedGeneration ?? 0) >= generation,
        isProgressing: progressing?.isMet === true && progressing.reason !== "NewReplicaSetAvailable",
        progressDeadlineExceeded: progressing?.reason === "ProgressDeadlineExceeded",
        podNodes: undefined,
      };
    },
  );

const daemonApp = /^rook-ceph-(mon|mgr|osd|mds|rgw|rbd-mirror|fs-mirror)$/;

function serviceOf(labels: Readonly<Record<string, string>>): string | undefined {
  const app = labels.app ?? "";
  if (!daemonApp.test(app)) {
    return undefined;
  }
  const of = labels.rook_file_system ?? labels.rook_object_store;
  return of === undefined ? app : `${app}/${of}`;
}
