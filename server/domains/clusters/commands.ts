import { Cluster, type GetClusterNodesStatusReply } from "../../../gen/cnct/kaas/api/api_pb.ts";
import {
  type ClusterMachine,
  ClusterMachineSchema,
  ClusterMachineStateSchema,
  ClusterService,
  type ClusterState,
  ClusterStateSchema,
  GetKubeconfigResponseSchema,
  StrayMachineSchema,
} from "../../../gen/hostplane/v1/cluster_pb.ts";
import { change, custom, list, type Noun, watch } from "../../cli/table/command.ts";
import { enumText } from "../../cli/table/enum-text.ts";
import { jsonOfMessage } from "../../cli/table/message-json.ts";
import {
  argument,
  argumentList,
  flag,
  nameOf,
  option,
  optionList,
  requiredOption,
  word,
} from "../../cli/table/parameter.ts";
import { printOne } from "../../cli/table/print-one.ts";
import { printableLine } from "../../cli/table/printable-line.ts";
import type { Printer } from "../../cli/table/printer.ts";
import { anyName, inventoryReference } from "../../cli/table/reference.ts";
import { firstOf, type Session } from "../../cli/table/session.ts";
import { timeText } from "../../cli/table/time-text.ts";
import type { View } from "../../cli/table/view.ts";
import { clusterSummary, nodesText, poolsOf, statusText } from "./cluster-text.ts";
import { followCluster } from "./follow-cluster.ts";
import {
  type MachinesSpec,
  type PoolSpec,
  parseMachinesSpec,
  parsePoolSize,
  parsePoolSpec,
} from "./parse-pool-spec.ts";

const clusters = inventoryReference("cluster", "cluster", anyName);
const cluster = argument("name of the cluster", nameOf("name", clusters));

const poolSpec = { placeholder: "pool", parse: parsePoolSpec };

const follow = (session: Session, values: { readonly cluster: string }, printer: Printer) =>
  followCluster(session, values.cluster, printer);

const clusterId = (_response: unknown, values: { readonly cluster: string }) => values.cluster;

/** Kubernetes clusters on MAAS machines. */
export const clusterNoun: Noun = {
  reference: clusters,
  commands: [
    list({
      name: "list",
      summary: "list the clusters",
      parameters: {
        clusters: argumentList("only these clusters", nameOf("name", clusters), { isRequired: false }),
      },
      method: ClusterService.method.watchClusters,
      request: (values) => ({ names: [...values.clusters] }),
      schema: ClusterStateSchema,
      items: (response) => response.clusters,
      columns: {
        NAME: (item) => item.name,
        STATUS: statusText,
        VERSION: (item) => item.k8sVersion,
        ENDPOINT: (item) => item.endpoint,
        NODES: (item) => nodesText(poolsOf(item)),
        MESSAGE: (item) => item.statusMessage,
      },
      id: (item) => item.name,
      watch: watch({
        method: ClusterService.method.watchClusters,
        request: (values: { readonly clusters: readonly string[] }) => ({ names: [...values.clusters] }),
        createLines: () => (message) => [
          ...message.clusters.map(clusterSummary),
          ...message.removed.map((name) => `${name} is gone`),
        ],
      }),
    }),
    custom({
      name: "show",
      summary: "show a cluster with its pools and nodes",
      parameters: { cluster },
      run: async (session, values, printer) => {
        const nodes = await session.call(Cluster.method.getClusterNodesStatus, {
          clusterName: values.cluster,
        });
        const { clusters: found } = await firstOf(session, ClusterService.method.watchClusters, {
          names: [values.cluster],
        });
        const [state] = found;
        if (state === undefined) {
          throw new Error(`cluster ${values.cluster} not found`);
        }
        printOne(printer, ClusterStateSchema, state, state.name, () => clusterView(state, nodes.message));
        return 0;
      },
    }),
    list({
      name: "machines",
      summary: "list the machines of a cluster, released ones included",
      parameters: { cluster, history: flag("include the history of each machine") },
      method: ClusterService.method.listMachines,
      request: (values) => ({ cluster: values.cluster }),
      schema: ClusterMachineSchema,
      items: (response) => response.machines,
      columns: {
        POOL: (item) => poolName(item.pool),
        STATE: stateText,
        HOSTNAME: (item) => item.hostname,
        "SYSTEM ID": (item) => item.systemId,
        ADDRESS: (item) => item.ipAddress,
        VERSION: (item) => item.k8sVersion,
        SINCE: (item) => timeText(item.since),
        MESSAGE: (item) => item.message,
      },
      id: (item) => item.id,
      below: (item, values) =>
        (values.history ? item.history : []).map((event) =>
          printableLine(
            `  ${timeText(event.at)} ${stateText(event)} ${event.systemId} ${event.message}`.trimEnd(),
          ),
        ),
    }),
    custom({
      name: "kubeconfig",
      summary: "print the kubeconfig of a cluster; it is a credential, keep it secret",
      parameters: { cluster },
      run: async (session, values, printer) => {
        const { message } = await session.call(ClusterService.method.getKubeconfig, values);
        return printKubeconfig(message, values.cluster, printer);
      },
    }),
    custom({
      name: "rotate",
      summary: "print a kubeconfig with a new certificate; the old one stays valid until it expires",
      parameters: { cluster },
      method: ClusterService.method.rotateKubeconfig,
      request: (values) => values,
      run: async (session, values, printer) => {
        const { message } = await session.call(ClusterService.method.rotateKubeconfig, values);
        return printKubeconfig(message, values.cluster, printer);
      },
    }),
    custom({
      name: "versions",
      summary: "list the Kubernetes versions that a cluster can be upgraded to",
      parameters: { cluster },
      run: async (session, values, printer) => {
        const { message } = await session.call(Cluster.method.getUpgradeClusterInformation, {
          name: values.cluster,
        });
        if (printer.format === "json" || printer.format === "yaml") {
          printer.document(message.versions);
          return 0;
        }
        for (const version of message.versions) {
          printer.out(version);
        }
        return 0;
      },
    }),
    change({
      name: "create",
      summary: "create a cluster on MAAS machines",
      parameters: {
        cluster: argument("up to 40 lowercase letters, digits and hyphens", word("name")),
        k8sVersion: requiredOption(
          "Kubernetes version, e.g. 1.36.3; MAAS must have an image of it",
          word("version"),
        ),
        controlPlane: option("<count>[,type][,label=value]...: 1, 3 or 5 machines (default: 1)", {
          placeholder: "machines",
          parse: parseMachinesSpec,
        }),
        pool: optionList(
          "<name>=<count>[,type][,label=value]..., e.g. workers=3 or gpus=1,gpu,tier=gold",
          poolSpec,
        ),
      },
      method: Cluster.method.createCluster,
      request: ({ cluster: name, k8sVersion, controlPlane = parseMachinesSpec("1"), pool }) => ({
        name,
        k8sVersion,
        controlPlaneNodes: machinesFrom(controlPlane),
        workerNodePools: pool.map(poolFrom),
      }),
      done: (_response, values) => `cluster ${values.cluster} is being created`,
      id: clusterId,
      follow,
    }),
    change({
      name: "delete",
      summary: "delete a cluster and release its machines; data on their disks is lost",
      parameters: { cluster },
      method: Cluster.method.deleteCluster,
      destroys: true,
      request: (values) => ({ name: values.cluster }),
      done: (_response, values) => `cluster ${values.cluster} is being deleted`,
      id: clusterId,
      follow,
    }),
    change({
      name: "add-pool",
      summary: "add pools of machines to a cluster",
      parameters: { cluster, pools: argumentList("<name>=<count>[,type][,label=value]...", poolSpec) },
      method: Cluster.method.addNodePool,
      request: (values) => ({ clusterName: values.cluster, workerNodePools: values.pools.map(poolFrom) }),
      done: (_response, values) => `cluster ${values.cluster} is getting new pools`,
      id: clusterId,
      follow,
    }),
    change({
      name: "delete-pool",
      summary: "delete pools of a cluster and release their machines",
      parameters: { cluster, pools: argumentList("names of pools", word("name")) },
      method: Cluster.method.deleteNodePool,
      destroys: true,
      request: (values) => ({ clusterName: values.cluster, nodePoolNames: [...values.pools] }),
      done: (_response, values) => `cluster ${values.cluster} is releasing the pools' machines`,
      id: clusterId,
      follow,
    }),
    change({
      name: "scale",
      summary: "set the number of machines of a cluster's pools",
      parameters: {
        cluster,
        sizes: argumentList("<pool>=<count>", { placeholder: "size", parse: parsePoolSize }),
      },
      method: Cluster.method.scaleNodePool,
      request: (values) => ({ clusterName: values.cluster, nodePools: [...values.sizes] }),
      done: (_response, values) => `cluster ${values.cluster} is being scaled`,
      id: clusterId,
      follow,
    }),
    change({
      name: "upgrade",
      summary: "upgrade a cluster, machine by machine",
      parameters: {
        cluster,
        version: argument("a version listed by `cluster versions`", word("version")),
      },
      method: Cluster.method.upgradeCluster,
      request: (values) => ({ name: values.cluster, version: values.version }),
      done: (_response, values) => `cluster ${values.cluster} is being upgraded to ${values.version}`,
      id: clusterId,
      follow,
    }),
    list({
      name: "strays",
      summary: "list stray machines, which are allocated to the gateway but belong to no cluster",
      method: ClusterService.method.listStrays,
      schema: StrayMachineSchema,
      items: (response) => response.strays,
      columns: {
        "SYSTEM ID": (item) => item.systemId,
        HOSTNAME: (item) => item.hostname,
        MAAS: (item) => item.maasStatus,
        CLUSTER: (item) => item.cluster,
        POOL: (item) => item.pool,
        ADOPTABLE: (item) => (item.adoptable ? "yes" : "no"),
        MESSAGE: (item) => item.message,
      },
      id: (item) => item.systemId,
      notes: ({ reportOnlyBecause }) =>
        reportOnlyBecause === "" ? [] : [`stray machines are not released: ${reportOnlyBecause}`],
    }),
    change({
      name: "adopt",
      summary: "adopt a stray machine into the cluster that it was deployed for",
      parameters: { systemId: argument("MAAS system id", word("system-id")) },
      method: ClusterService.method.adoptStray,
      request: (values) => values,
      done: ({ machine }, values) =>
        `machine ${values.systemId} was adopted by its cluster as ${machine?.id ?? ""}`,
      id: (_response, values) => values.systemId,
    }),
    change({
      name: "release",
      summary: "release a stray machine to MAAS; data on its disks is lost",
      parameters: { systemId: argument("MAAS system id", word("system-id")) },
      method: ClusterService.method.releaseStray,
      destroys: true,
      request: (values) => values,
      done: (_response, values) => `machine ${values.systemId} is being released to MAAS`,
      id: (_response, values) => values.systemId,
    }),
  ],
};

function clusterView(state: ClusterState, { machines }: GetClusterNodesStatusReply): View {
  return {
    facts: [
      ["name", state.name],
      ["status", statusText(state)],
      ["message", state.statusMessage],
      ["version", versionText(state)],
      ["endpoint", state.endpoint],
      ["created", timeText(state.createdAt)],
    ],
    tables: [
      {
        head: ["POOL", "TYPE", "DESIRED", "MACHINES", "NODES"],
        rows: poolsOf(state).map((pool) => [
          poolName(pool.name),
          pool.instanceType,
          ...[pool.wanted, pool.machines, pool.ready].map(String),
        ]),
      },
      {
        head: ["NODE", "STATUS", "VERSION", "SYSTEM ID", "MAAS", "ADDRESS"],
        rows: machines.map((machine) => [
          machine.maasHostname,
          machine.k8sNodeStatus,
          machine.k8sVersion,
          machine.maasSystemId,
          machine.maasNodeStatus,
          machine.maasIPAddr,
        ]),
      },
    ],
  };
}

function printKubeconfig(message: { readonly kubeconfig: string }, cluster: string, printer: Printer): 0 {
  if (message.kubeconfig === "") {
    throw new Error(
      `cluster ${cluster} has no address yet: clusters.endpoint is not set, and its first machine has no address`,
    );
  }
  if (printer.format === "json" || printer.format === "yaml") {
    printer.document(jsonOfMessage(GetKubeconfigResponseSchema, message as never));
  } else {
    printer.out(message.kubeconfig.trimEnd());
  }
  return 0;
}

function stateText({ state }: Pick<ClusterMachine, "state">): string {
  return enumText(ClusterMachineStateSchema, state);
}

function versionText({ k8sVersion, controlPlaneVersion }: ClusterState): string {
  return k8sVersion === controlPlaneVersion
    ? k8sVersion
    : `${k8sVersion} (control plane ${controlPlaneVersion})`;
}

function poolName(name: string): string {
  return name === "" ? "control plane" : name;
}

function machinesFrom({ count, instanceType, labels }: MachinesSpec) {
  return { count, instanceType, labels: labels.map((label) => ({ ...label })) };
}

function poolFrom(pool: PoolSpec) {
  return { name: pool.name, ...machinesFrom(pool) };
}
