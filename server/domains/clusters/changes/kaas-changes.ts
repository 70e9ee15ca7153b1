import { type Cluster, ClusterStatus } from "../../../../gen/cnct/kaas/api/api_pb.ts";
import type { ChangesOf } from "../../../domain/change.ts";
import { createStoredChange } from "../../../domain/stored-change.ts";
import { requesterFrom } from "../../../rpc/call/requester.ts";
import type { ClusterOperations } from "../operations/cluster-operations.ts";
import type { ClusterSpecs } from "../specs/cluster-specs.ts";
import { createCreateCluster, createDeleteCluster, createUpgradeCluster } from "./cluster-changes.ts";
import { createAddNodePools, createDeleteNodePools, createScaleNodePools } from "./pool-changes.ts";

type KaasMethod =
  | "createCluster"
  | "deleteCluster"
  | "upgradeCluster"
  | "addNodePool"
  | "deleteNodePool"
  | "scaleNodePool";

/** The changes of cnct.kaas.api.Cluster. */
export type KaasChanges = ChangesOf<typeof Cluster, KaasMethod>;

/**
 * Creates the changes of cnct.kaas.api.Cluster. Each changes a spec in the store; an operation follows what the reconciler makes
 * of it.
 */
export function createKaasChanges(specs: ClusterSpecs, operations: ClusterOperations): KaasChanges {
  return {
    createCluster: createStoredChange(createCreateCluster(specs), async (created, call) => {
      await operations.created(created, requesterFrom(call));
      return { ok: true, cluster: { name: created.name, status: ClusterStatus.PROVISIONING } };
    }),
    deleteCluster: createStoredChange(createDeleteCluster(specs), async (before, call) => {
      await operations.removed(before, requesterFrom(call));
      return { ok: true, status: "Deleting" };
    }),
    upgradeCluster: createStoredChange(createUpgradeCluster(specs), async ({ cluster }, call) => {
      await operations.upgraded(cluster, requesterFrom(call));
      return { ok: true };
    }),
    addNodePool: createStoredChange(createAddNodePools(specs), async (before, call, { pools }) => {
      const names = pools.map(({ name }) => name);
      await operations.poolsAdded(before, names, requesterFrom(call));
      return { ok: true };
    }),
    deleteNodePool: createStoredChange(createDeleteNodePools(specs), async (before, call) => {
      await operations.poolsRemoved(before, requesterFrom(call));
      return { ok: true };
    }),
    scaleNodePool: createStoredChange(createScaleNodePools(specs), async (before, call, { sizes }) => {
      await operations.poolsScaled(before, sizes, requesterFrom(call));
      return { ok: true };
    }),
  };
}
