import { Cluster, GetUpgradeClusterInformationReplySchema } from "../../../gen/cnct/kaas/api/api_pb.ts";
import {
  type ClusterMachine,
  ClusterMachineSchema,
  ClusterMachineStateSchema,
  ClusterService,
  ClusterStateSchema,
  GetKubeconfigResponseSchema,
  RotateKubeconfigResponseSchema,
  StrayMachineSchema,
} from "../../../gen/hostplane/v1/cluster_pb.ts";
import { change, custom, list, type Noun, show, watch } from "../../cli/table/command.ts";
import { enumText } from "../../cli/table/enum-text.ts";
import {
  argument,
  argumentList,
  flag,
  nameOf,
  optionList,
  requiredOption,
  withDefault,
  word,
} from "../../cli/table/parameter.ts";
import { printOne } from "../../cli/table/print-one.ts";
import { printableLine } from "../../cli/table/printable-line.ts";
import type { Printer } from "../../cli/table/printer.ts";
import { anyName, inventoryReference } from "../../cli/table/reference.ts";
import { requestFromValues } from "../../cli/table/request-from-values.ts";
import { firstOf, type Session } from "../../cli/table/session.ts";
import { timeText } from "../../cli/table/time-text.ts";
import type { View } from "../../cli/table/view.ts";
import { clusterSummary, nodesText, poolName, poolsOf, statusText } from "./cli/cluster-text.ts";
import { clusterView } from "./cli/cluster-view.ts";
import { followCluster } from "./cli/follow-cluster.ts";
import { parseMachinesSpec, parsePoolSize, parsePoolSpec } from "./cli/parse-pool-spec.ts";

const clusters = inventoryReference("cluster", "cluster", anyName);
const cluster = argument("name of the cluster", nameOf("name", clusters));

const machines = { placeholder: "machines", parse: parseMachinesSpec };
const poolSpec = { placeholder: "pool", parse: parsePoolSpec };

/** The first argument is the cluster. */
const follow = (session: Session, values: object, printer: Printer) =>
  followCluster(session, String(Object.values(values)[0]), printer);

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
        NAME: "name",
        STATUS: statusText,
        VERSION: "k8sVersion",
        ENDPOINT: "endpoint",
        NODES: (item) => nodesText(poolsOf(item)),
        MESSAGE: "statusMessage",
      },
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
        HOSTNAME: "hostname",
        "SYSTEM ID": "systemId",
        ADDRESS: "ipAddress",
        VERSION: "k8sVersion",
        SINCE: "since",
        MESSAGE: "message",
      },
      below: (item, values) =>
        (values.history ? item.history : []).map((event) =>
          printableLine(
            `  ${timeText(event.at)} ${stateText(event)} ${event.systemId} ${event.message}`.trimEnd(),
          ),
        ),
    }),
    show({
      name: "kubeconfig",
      summary: "print the kubeconfig of a cluster; it is a credential, keep it secret",
      parameters: { cluster },
      method: ClusterService.method.getKubeconfig,
      schema: GetKubeconfigResponseSchema,
      item: withAddress,
      view: kubeconfigView,
      id: () => "kubeconfig",
    }),
    show({
      name: "rotate",
      summary: "print a kubeconfig with a new certificate; the old one stays valid until it expires",
      parameters: { cluster },
      method: ClusterService.method.rotateKubeconfig,
      schema: RotateKubeconfigResponseSchema,
      item: withAddress,
      view: kubeconfigView,
      id: () => "kubeconfig",
    }),
    show({
      name: "versions",
      summary: "list the Kubernetes versions that a cluster can be upgraded to",
      parameters: { name: cluster },
      method: Cluster.method.getUpgradeClusterInformation,
      schema: GetUpgradeClusterInformationReplySchema,
      item: (response) => response,
      view: ({ versions }) => ({ lines: versions }),
      id: ({ versions }) => versions.join(" "),
    }),
    change({
      name: "create",
      summary: "create a cluster on MAAS machines",
      parameters: {
        name: argument("up to 40 lowercase letters, digits and hyphens", word("name")),
        k8sVersion: requiredOption(
          "Kubernetes version, e.g. 1.36.3; MAAS must have an image of it",
          word("version"),
        ),
        controlPlane: withDefault("1", "<count>[,type][,label=value]...: 1, 3 or 5 machines", machines),
        pool: optionList(
          "<name>=<count>[,type][,label=value]..., e.g. workers=3 or gpus=1,gpu,tier=gold",
          poolSpec,
        ),
      },
      method: Cluster.method.createCluster,
      request: ({ controlPlane: controlPlaneNodes, pool: workerNodePools, ...rest }) =>
        requestFromValues(Cluster.method.createCluster.input, {
          ...rest,
          controlPlaneNodes,
          workerNodePools,
        }),
      done: (_response, values) => `cluster ${values.name} is being created`,
      follow,
    }),
    change({
      name: "delete",
      summary: "delete a cluster and release its machines; data on their disks is lost",
      parameters: { name: cluster },
      method: Cluster.method.deleteCluster,
      destroys: true,
      done: (_response, values) => `cluster ${values.name} is being deleted`,
      follow,
    }),
    change({
      name: "add-pool",
      summary: "add pools of machines to a cluster",
      parameters: {
        clusterName: cluster,
        workerNodePools: argumentList("<name>=<count>[,type][,label=value]...", poolSpec),
      },
      method: Cluster.method.addNodePool,
      done: (_response, values) => `cluster ${values.clusterName} is getting new pools`,
      follow,
    }),
    change({
      name: "delete-pool",
      summary: "delete pools of a cluster and release their machines",
      parameters: { clusterName: cluster, nodePoolNames: argumentList("names of pools", word("name")) },
      method: Cluster.method.deleteNodePool,
      destroys: true,
      done: (_response, values) => `cluster ${values.clusterName} is releasing the pools' machines`,
      follow,
    }),
    change({
      name: "scale",
      summary: "set the number of machines of a cluster's pools",
      parameters: {
        clusterName: cluster,
        nodePools: argumentList("<pool>=<count>", { placeholder: "size", parse: parsePoolSize }),
      },
      method: Cluster.method.scaleNodePool,
      done: (_response, values) => `cluster ${values.clusterName} is being scaled`,
      follow,
    }),
    change({
      name: "upgrade",
      summary: "upgrade a cluster, machine by machine",
      parameters: {
        name: cluster,
        version: argument("a version listed by `cluster versions`", word("version")),
      },
      method: Cluster.method.upgradeCluster,
      done: (_response, values) => `cluster ${values.name} is being upgraded to ${values.version}`,
      follow,
    }),
    list({
      name: "strays",
      summary: "list stray machines, which are allocated to the gateway but belong to no cluster",
      method: ClusterService.method.listStrays,
      schema: StrayMachineSchema,
      items: (response) => response.strays,
      columns: {
        "SYSTEM ID": "systemId",
        HOSTNAME: "hostname",
        MAAS: "maasStatus",
        CLUSTER: "cluster",
        POOL: "pool",
        ADOPTABLE: (item) => (item.adoptable ? "yes" : "no"),
        MESSAGE: "message",
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
      done: ({ machine }, values) =>
        `machine ${values.systemId} was adopted by its cluster as ${machine?.id ?? ""}`,
    }),
    change({
      name: "release",
      summary: "release a stray machine to MAAS; data on its disks is lost",
      parameters: { systemId: argument("MAAS system id", word("system-id")) },
      method: ClusterService.method.releaseStray,
      destroys: true,
      done: (_response, values) => `machine ${values.systemId} is being released to MAAS`,
    }),
  ],
};

interface Kubeconfig {
  readonly kubeconfig: string;
}

function withAddress<Of extends Kubeconfig>(
  response: Of,
  { cluster: name }: { readonly cluster: string },
): Of {
  if (response.kubeconfig === "") {
    throw new Error(
      `cluster ${name} has no address yet: clusters.endpoint is not set, and its first machine has no address`,
    );
  }
  return response;
}

function kubeconfigView({ kubeconfig }: Kubeconfig): View {
  return { lines: kubeconfig.trimEnd().split("\n") };
}

function stateText({ state }: Pick<ClusterMachine, "state">): string {
  return enumText(ClusterMachineStateSchema, state);
}
