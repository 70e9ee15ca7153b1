import { type DescMessage, type MessageShape, toJson } from "@bufbuild/protobuf";
import {
  ListMachinesResponseSchema,
  ListStraysResponseSchema,
  WatchClustersResponseSchema,
} from "../../gen/hostplane/v1/cluster_pb.ts";
import type { ExitCode } from "../cli/table/output.ts";
import type { AdminClient } from "../cli/target/admin-client.ts";
import { whileRead } from "../cli/while-read.ts";
import { clusterLines, clusterListLines, clusterSummary, machineLines, strayLines } from "./cluster-lines.ts";
import { type AdminOptions, type CommandContext, runAdminCommand } from "./run-admin-command.ts";

/** Machines are known only to a running gateway. */
const running = { mustRun: true };

/** Prints the clusters, as a table or as the API's message. */
export function listClusters(options: AdminOptions, context: CommandContext): Promise<ExitCode> {
  const work = async (client: AdminClient) => {
    const answer = await readClusters(client, []);
    print(options, context, WatchClustersResponseSchema, answer, ({ clusters }) =>
      clusterListLines(clusters),
    );
  };
  return runAdminCommand(options, context, work, running);
}

/** Prints a cluster with its pools and nodes. */
export function showCluster(name: string, options: AdminOptions, context: CommandContext): Promise<ExitCode> {
  const work = async (client: AdminClient) => {
    const nodes = await client.kaas.getClusterNodesStatus({ clusterName: name });
    const answer = await readClusters(client, [name]);
    print(options, context, WatchClustersResponseSchema, answer, ({ clusters }) =>
      clusters.flatMap((cluster) => clusterLines(cluster, nodes)),
    );
  };
  return runAdminCommand(options, context, work, running);
}

/** Prints the machines of a cluster, with `history` also their past events. */
export function listClusterMachines(
  cluster: string,
  options: AdminOptions & { readonly history?: boolean },
  context: CommandContext,
): Promise<ExitCode> {
  const work = async (client: AdminClient) => {
    const answer = await client.clusters.listMachines({ cluster });
    print(options, context, ListMachinesResponseSchema, answer, ({ machines }) =>
      machineLines(machines, options.history === true),
    );
  };
  return runAdminCommand(options, context, work, running);
}

/** Prints the kubeconfig of a cluster, ready to be saved as a file. */
export function printKubeconfig(
  cluster: string,
  options: AdminOptions & { readonly rotate?: boolean },
  context: CommandContext,
): Promise<ExitCode> {
  const work = async ({ clusters }: AdminClient) => {
    const call = options.rotate === true ? clusters.rotateKubeconfig : clusters.getKubeconfig;
    const { kubeconfig } = await call({ cluster });
    if (kubeconfig === "") {
      throw new Error(
        `cluster ${cluster} has no address yet: clusters.endpoint is not set, and its first machine has no address`,
      );
    }
    context.output.out(kubeconfig.trimEnd());
  };
  return runAdminCommand(options, context, work, running);
}

/** Prints the current clusters and then every change, until the gateway stops or the output is closed. */
export function watchClusters(
  names: readonly string[],
  options: AdminOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const work = ({ clusters }: AdminClient) =>
    whileRead(async (signal) => {
      for await (const message of clusters.watchClusters({ names: [...names] }, { signal })) {
        const lines =
          options.json === true
            ? [JSON.stringify(jsonOf(WatchClustersResponseSchema, message))]
            : [...message.clusters.map(clusterSummary), ...message.removed.map((name) => `${name} is gone`)];
        for (const line of lines) {
          context.output.out(line);
        }
      }
    });
  return runAdminCommand(options, context, work, running);
}

/** Prints the versions that a cluster can be upgraded to, one per line. */
export function listUpgrades(
  name: string,
  options: AdminOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const work = async ({ kaas }: AdminClient) => {
    const { versions } = await kaas.getUpgradeClusterInformation({ name });
    for (const line of options.json === true ? [JSON.stringify(versions)] : versions) {
      context.output.out(line);
    }
  };
  return runAdminCommand(options, context, work, running);
}

/** Prints the stray machines: those that MAAS has allocated to the gateway but no cluster knows. */
export function listStrays(options: AdminOptions, context: CommandContext): Promise<ExitCode> {
  const work = async ({ clusters }: AdminClient) => {
    const answer = await clusters.listStrays({});
    print(options, context, ListStraysResponseSchema, answer, ({ strays, reportOnlyBecause }) => [
      ...strayLines(strays),
      ...(reportOnlyBecause === "" ? [] : ["", `stray machines are not released: ${reportOnlyBecause}`]),
    ]);
  };
  return runAdminCommand(options, context, work, running);
}

/** Reads the current state of the clusters. */
async function readClusters({ clusters }: Pick<AdminClient, "clusters">, names: readonly string[]) {
  const enough = new AbortController();
  try {
    for await (const message of clusters.watchClusters({ names: [...names] }, { signal: enough.signal })) {
      return message;
    }
  } finally {
    enough.abort();
  }
  throw new Error("the gateway stopped before it sent its clusters");
}

function print<Schema extends DescMessage>(
  options: AdminOptions,
  { output }: CommandContext,
  schema: Schema,
  message: MessageShape<Schema>,
  linesOf: (message: MessageShape<Schema>) => readonly string[],
): void {
  const lines = options.json === true ? [JSON.stringify(jsonOf(schema, message), null, 2)] : linesOf(message);
  for (const line of lines) {
    output.out(line);
  }
}

function jsonOf<Schema extends DescMessage>(schema: Schema, message: MessageShape<Schema>) {
  return toJson(schema, message, { alwaysEmitImplicit: true });
}
