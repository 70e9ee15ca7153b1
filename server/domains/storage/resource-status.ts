import type { KubernetesDeployment, RookObject } from "../../../adapters/kubernetes/adapter.ts";
import { ResourceStatus } from "../../../gen/resources/stats/stats_pb.ts";

const {
  RESOURCE_UNKNOWN: unknown,
  RESOURCE_READY: ready,
  RESOURCE_PROGRESSING: progressing,
  RESOURCE_NOT_READY: notReady,
} = ResourceStatus;

/** What Rook writes as the phase of an object, and as the state of a CephCluster. Whatever else it writes is unknown. */
const statusOfWord = new Map<string, ResourceStatus>(
  Object.entries({
    Ready: ready,
    Created: ready,
    Connected: ready,
    Connecting: progressing,
    Creating: progressing,
    Updating: progressing,
    Progressing: progressing,
    Processing: progressing,
    Reconciling: progressing,
    Error: notReady,
    Failed: notReady,
    Failure: notReady,
    ReconcileFailed: notReady,
    Deleting: notReady,
    DeletionIsBlocked: notReady,
  }),
);

/** By the state of a CephCluster, else by the phase; one that is ready and asked for something else since is on its way. */
export function statusOfRook({ state, phase, isObserved, isDeleting }: RookObject): ResourceStatus {
  if (isDeleting) {
    return notReady;
  }
  const status = statusOfWord.get(state ?? phase ?? "") ?? unknown;
  return status === ready && !isObserved ? progressing : status;
}

/** Ready are as many as are wanted, and all of the newest make. */
export function statusOfDeployment(deployment: KubernetesDeployment): ResourceStatus {
  const { wantedReplicas, readyReplicas, updatedReplicas, isObserved, isProgressing } = deployment;
  if (!isObserved) {
    return progressing;
  }
  if (deployment.progressDeadlineExceeded) {
    return notReady;
  }
  if (readyReplicas >= wantedReplicas && updatedReplicas >= wantedReplicas) {
    return ready;
  }
  return isProgressing ? progressing : notReady;
}
