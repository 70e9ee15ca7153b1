import type { KubernetesDeployment, RookObject } from "../../../../adapters/kubernetes/adapter.ts";
import { ResourceStatus } from "../../../../gen/resources/stats/stats_pb.ts";

const {
  RESOURCE_UNKNOWN: unknown,
  RESOURCE_READY: ready,
  RESOURCE_PROGRESSING: progressing,
  RESOURCE_NOT_READY: notReady,
} = ResourceStatus;

/** Status by the phase of a Rook object, or by the state of a CephCluster. Any other word means unknown. */
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

/** Returns the status of a Rook object. A ready object whose newest spec is not observed yet is progressing. */
export function statusOfRook({ state, phase, isObserved, isDeleting }: RookObject): ResourceStatus {
  if (isDeleting) {
    return notReady;
  }
  const status = statusOfWord.get(state ?? phase ?? "") ?? unknown;
  return status === ready && !isObserved ? progressing : status;
}

/** Returns the status of a Deployment: ready if all desired replicas are ready and up to date. */
export function statusOfDeployment(deployment: KubernetesDeployment): ResourceStatus {
  const { desiredReplicas, readyReplicas, updatedReplicas, isObserved, isProgressing } = deployment;
  if (!isObserved) {
    return progressing;
  }
  if (deployment.progressDeadlineExceeded) {
    return notReady;
  }
  if (readyReplicas >= desiredReplicas && updatedReplicas >= desiredReplicas) {
    return ready;
  }
  return isProgressing ? progressing : notReady;
}
