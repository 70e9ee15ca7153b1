import { ClusterStatus } from "../../gen/cnct/kaas/api/api_pb.ts";
import type { ExitCode } from "../cli/table/output.ts";
import type { AdminClient } from "../cli/target/admin-client.ts";
import type { MachinesSpec, PoolSize, PoolSpec } from "../domains/clusters/parse-pool-spec.ts";
import { clusterSummary } from "./cluster-lines.ts";
import { type AdminOptions, type CommandContext, runAdminCommand } from "./run-admin-command.ts";

export interface ChangeClusterOptions extends AdminOptions {
  /** Report progress until the cluster matches its spec. */
  readonly wait?: boolean;
}

export interface CreateClusterOptions extends ChangeClusterOptions {
  readonly k8sVersion: string;
  readonly controlPlane: MachinesSpec;
  readonly pool?: readonly PoolSpec[];
}

/** Creates a cluster. */
export function createCluster(
  name: string,
  options: CreateClusterOptions,
  context: CommandContext,
): Promise<ExitCode> {
  return changeCluster(name, options, context, "is being created", ({ kaas }) =>
    kaas.createCluster({
      name,
      k8sVersion: options.k8sVersion,
      controlPlaneNodes: messageOf(options.controlPlane),
      workerNodePools: (options.pool ?? []).map(poolMessageOf),
    }),
  );
}

/** Deletes a cluster and releases its machines. */
export async function deleteCluster(
  name: string,
  options: ChangeClusterOptions,
  context: CommandContext,
): Promise<ExitCode> {
  return changeCluster(name, options, context, "is being deleted", ({ kaas }) =>
    kaas.deleteCluster({ name }),
  );
}

/** Adds pools to a cluster. */
export function addPools(
  name: string,
  pools: readonly PoolSpec[],
  options: ChangeClusterOptions,
  context: CommandContext,
): Promise<ExitCode> {
  return changeCluster(name, options, context, "is getting new pools", ({ kaas }) =>
    kaas.addNodePool({ clusterName: name, workerNodePools: pools.map(poolMessageOf) }),
  );
}

/** Deletes pools of a cluster and releases their machines. */
export function deletePools(
  name: string,
  pools: readonly string[],
  options: ChangeClusterOptions,
  context: CommandContext,
): Promise<ExitCode> {
  return changeCluster(name, options, context, "is releasing the pools' machines", ({ kaas }) =>
    kaas.deleteNodePool({ clusterName: name, nodePoolNames: [...pools] }),
  );
}

/** Sets the number of machines of a cluster's pools. */
export function scalePools(
  name: string,
  sizes: readonly PoolSize[],
  options: ChangeClusterOptions,
  context: CommandContext,
): Promise<ExitCode> {
  return changeCluster(name, options, context, "is being scaled", ({ kaas }) =>
    kaas.scaleNodePool({ clusterName: name, nodePools: [...sizes] }),
  );
}

/** Upgrades a cluster, machine by machine. */
export function upgradeCluster(
  name: string,
  version: string,
  options: ChangeClusterOptions,
  context: CommandContext,
): Promise<ExitCode> {
  return changeCluster(name, options, context, `is being upgraded to ${version}`, ({ kaas }) =>
    kaas.upgradeCluster({ name, version }),
  );
}

/** Adopts a stray machine into the cluster that it was deployed for. */
export function adoptStray(
  systemId: string,
  options: AdminOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const work = async ({ clusters }: AdminClient) => {
    const { machine } = await clusters.adoptStray({ systemId });
    context.output.out(`machine ${systemId} was adopted by its cluster as ${machine?.id ?? ""}`);
  };
  return runAdminCommand(options, context, work, { mustRun: true });
}

/** Releases a stray machine to MAAS. */
export function releaseStray(
  systemId: string,
  options: AdminOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const work = async ({ clusters }: AdminClient) => {
    await clusters.releaseStray({ systemId });
    context.output.out(`machine ${systemId} is being released to MAAS`);
  };
  return runAdminCommand(options, context, work, { mustRun: true });
}

/**
 * Makes a change and prints what it starts. With `wait` it also prints the progress and returns 1 if the cluster reaches the
 * status ERROR.
 * @param begun e.g. `is being created`
 */
async function changeCluster(
  name: string,
  options: ChangeClusterOptions,
  context: CommandContext,
  begun: string,
  change: (client: AdminClient) => Promise<unknown>,
): Promise<ExitCode> {
  let isAsWanted = true;
  const work = async (client: AdminClient) => {
    await change(client);
    if (options.wait === true) {
      isAsWanted = await followCluster(client, name, context);
    } else {
      context.output.out(`cluster ${name} ${begun}`);
    }
  };
  const code = await runAdminCommand(options, context, work, { mustRun: true });
  return code === 0 && !isAsWanted ? 1 : code;
}

/** Prints a cluster's progress until it matches its spec or is gone. Returns false when it reaches the status ERROR. */
async function followCluster(
  { clusters }: Pick<AdminClient, "clusters">,
  name: string,
  { output }: CommandContext,
): Promise<boolean> {
  const enough = new AbortController();
  let last: string | undefined;
  try {
    for await (const message of clusters.watchClusters({ names: [name] }, { signal: enough.signal })) {
      const [cluster] = message.clusters;
      if (cluster === undefined) {
        // Heartbeats and irrelevant changes contain neither clusters nor removed names.
        if (message.removed.includes(name) || last === undefined) {
          output.out(`${name} is gone`);
          return true;
        }
        continue;
      }
      const line = clusterSummary(cluster);
      if (line !== last) {
        output.out(line);
        last = line;
      }
      const isSettled = cluster.settledGeneration >= cluster.generation;
      if (cluster.status === ClusterStatus.ERROR || (cluster.status === ClusterStatus.RUNNING && isSettled)) {
        return cluster.status === ClusterStatus.RUNNING;
      }
    }
  } finally {
    enough.abort();
  }
  throw new Error(
    `the gateway stopped before cluster ${name} matched its spec; it continues after a restart`,
  );
}

function messageOf({ count, instanceType, labels }: MachinesSpec) {
  return { count, instanceType, labels: labels.map((label) => ({ ...label })) };
}

function poolMessageOf(pool: PoolSpec) {
  return { name: pool.name, ...messageOf(pool) };
}
