import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { Json } from "../../../operations/operation.ts";
import type { OperationStarter, Operations } from "../../../operations/operations.ts";
import type { Requester } from "../../../rpc/call/requester.ts";
import type { PoolSize } from "../specs/cluster-requests.ts";
import { clusterResource } from "../specs/cluster-resource.ts";
import type { ChangedCluster, CreatedCluster } from "../specs/cluster-specs.ts";
import {
  type AddPoolsInput,
  type ClusterChangeInput,
  type ClusterKindTools,
  createAddPoolsKind,
  createCreateKind,
  createDeleteKind,
  createFinalKind,
  createScalePoolsKind,
  type ScalePoolsInput,
} from "./cluster-kinds.ts";

/**
 * Starts the operations that follow changes of clusters, and returns their ids to the caller. The change is stored before
 * that, so a failure to start the operation is only logged and does not fail the call. A change without effect starts no
 * operation.
 */
export interface ClusterOperations {
  created(cluster: CreatedCluster, requester: Requester): Promise<void>;
  removed(before: ChangedCluster, requester: Requester): Promise<void>;
  poolsAdded(before: ChangedCluster, pools: readonly string[], requester: Requester): Promise<void>;
  poolsRemoved(before: ChangedCluster, requester: Requester): Promise<void>;
  poolsScaled(before: ChangedCluster, sizes: readonly PoolSize[], requester: Requester): Promise<void>;
  upgraded(before: ChangedCluster, requester: Requester): Promise<void>;
}

export interface ClusterOperationsOptions extends ClusterKindTools {
  readonly operations: Pick<Operations, "register">;
  readonly maasUrl: string;
  readonly log: { warn(message: string, cause?: unknown): void };
}

type Starter<Input extends Json> = OperationStarter<Input, null>;

/** Registers the kinds of cluster operations. Must be called before operations start. */
export function createClusterOperations(options: ClusterOperationsOptions): ClusterOperations {
  const { operations, maasUrl, log } = options;
  const create = operations.register(createCreateKind(options));
  const addPools = operations.register(createAddPoolsKind(options));
  const scalePools = operations.register(createScalePoolsKind(options));
  const removePools = operations.register(createFinalKind(options, "clusters.removePools"));
  const upgrade = operations.register(createFinalKind(options, "clusters.upgrade"));
  const remove = operations.register(createDeleteKind(options));

  async function begin<Input extends ClusterChangeInput>(
    starter: Starter<Input>,
    input: Input,
    { actor, accountId, rpc, noteOperation }: Requester,
  ): Promise<void> {
    const { name, uid, generation } = input;
    try {
      const { operation } = await starter.start({
        resource: clusterResource(name),
        backend: maasUrl,
        input,
        secrets: null,
        requester: { actor, accountId, rpc },
        attachKey: `cluster ${uid} ${generation}`,
      });
      noteOperation(operation.id);
    } catch (error) {
      if (!(error instanceof InfraError)) {
        throw error;
      }
      log.warn(`cluster ${name} was changed, but no operation could be started to follow the change`, error);
    }
  }

  async function follow(
    starter: Starter<ClusterChangeInput>,
    before: ChangedCluster,
    requester: Requester,
  ): Promise<void> {
    const input = inputOf(before);
    if (input !== undefined) {
      await begin(starter, input, requester);
    }
  }

  return {
    created: ({ name, uid }, requester) => begin(create, { name, uid, generation: 1 }, requester),
    removed: (before, requester) => follow(remove, before, requester),
    poolsRemoved: (before, requester) => follow(removePools, before, requester),
    upgraded: (before, requester) => follow(upgrade, before, requester),
    async poolsAdded(before, pools, requester) {
      const input = inputOf(before);
      if (input !== undefined) {
        await begin<AddPoolsInput>(addPools, { ...input, pools }, requester);
      }
    },
    async poolsScaled(before, sizes, requester) {
      const input = inputOf(before);
      if (input !== undefined) {
        const names = new Set(sizes.map(({ name }) => name));
        const earlier = before.pools.filter(({ name }) => names.has(name));
        const sizesBefore = earlier.map(({ name, count }) => ({ name, count }));
        await begin<ScalePoolsInput>(scalePools, { ...input, sizes: sizesBefore }, requester);
      }
    },
  };
}

function inputOf({ name, uid, changedTo }: ChangedCluster): ClusterChangeInput | undefined {
  return changedTo === undefined ? undefined : { name, uid, generation: changedTo };
}
