import { ClusterStatus } from "../../gen/cnct/kaas/api/api_pb.ts";
import type { AdminClient } from "./admin-client.ts";
import { clusterSummary } from "./cluster-lines.ts";
import type { ExitCode } from "./output.ts";
import type { MachinesSpec, PoolSize, PoolSpec } from "./parse-pool-spec.ts";
import { type AdminOptions, type CommandContext, runAdminCommand } from "./run-admin-command.ts";

export interface ChangeClusterOptions extends AdminOptions {
  /** Tell how it comes along until it is as wanted. */
  readonly wait?: boolean;
}

export interface CreateClusterOptions extends ChangeClusterOptions {
  readonly k8sVersion: string;
  readonly controlPlane: MachinesSpec;
  readonly pool?: readonly PoolSpec[];
}

/** Has a cluster made. */
export function createCluster(
  name: string,
  options: CreateClusterOptions,
  context: CommandContext,
): Promise<ExitCode> {
  return changeCluster(name, options, context, "is being made", ({ kaas }) =>
    kaas.createCluster({
      name,
      k8sVersion: options.k8sVersion,
      controlPlaneNodes: messageOf(options.controlPlane),
      workerNodePools: (options.pool ?? []).map(poolMessageOf),
    }),
  );
}

/** Has a cluster removed and its machines given back. */
export async function deleteCluster(
  name: string,
  options: ChangeClusterOptions,
  context: CommandContext,
): Promise<ExitCode> {
  return changeCluster(name, options, context, "is being deleted", ({ kaas }) =>
    kaas.deleteCluster({ name }),
  );
}

/** Has pools added to a cluster. */
export function addPools(
  name: string,
  pools: readonly PoolSpec[],
  options: ChangeClusterOptions,
  context: CommandContext,
): Promise<ExitCode> {
  return changeCluster(name, options, context, "gets its new pools", ({ kaas }) =>
    kaas.addNodePool({ clusterName: name, workerNodePools: pools.map(poolMessageOf) }),
  );
}

/** Has pools of a cluster removed and their machines given back. */
export function deletePools(
  name: string,
  pools: readonly string[],
  options: ChangeClusterOptions,
  context: CommandContext,
): Promise<ExitCode> {
  return changeCluster(name, options, context, "gives the pools' machines back", ({ kaas }) =>
    kaas.deleteNodePool({ clusterName: name, nodePoolNames: [...pools] }),
  );
}

/** Says how many machines pools of a cluster are to have. */
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

/** Has a cluster upgraded, machine by machine. */
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

/** Takes a machine that no cluster knows for one of the cluster that it was made for. */
export function adoptStray(
  systemId: string,
  options: AdminOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const work = async ({ clusters }: AdminClient) => {
    const { machine } = await clusters.adoptStray({ systemId });
    context.output.out(`machine ${systemId} is in its cluster again, as ${machine?.id ?? ""}`);
  };
  return runAdminCommand(options, context, work, { mustRun: true });
}

/** Gives a machine that no cluster knows back to MAAS. */
export function releaseStray(
  systemId: string,
  options: AdminOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const work = async ({ clusters }: AdminClient) => {
    await clusters.releaseStray({ systemId });
    context.output.out(`machine ${systemId} is being given back to MAAS`);
  };
  return runAdminCommand(options, context, work, { mustRun: true });
}

/**
 * Makes a change and says what it begins, or with `wait` how it comes along; it fails then if the cluster comes to an error.
 * @param begun as `is being made`
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

/** Prints how a cluster comes along until it is as wanted or gone; false when it comes to an error. */
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
        // A change or a heartbeat of which nothing is to be told has neither.
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
  throw new Error(`the gateway stopped before cluster ${name} was as wanted; it goes on when it runs again`);
}

function messageOf({ count, instanceType, labels }: MachinesSpec) {
  return { count, instanceType, labels: labels.map((label) => ({ ...label })) };
}

function poolMessageOf(pool: PoolSpec) {
  return { name: pool.name, ...messageOf(pool) };
}
