import type { GetClusterNodesStatusReply_MachineStatus as NodeStatus } from "../../../gen/cnct/kaas/api/api_pb.ts";
import { type ClusterMachine, ClusterMachineState } from "../../../gen/hostplane/v1/cluster_pb.ts";
import { useRead } from "../../live/use-read.ts";
import { ErrorNote } from "../../parts/error-note.tsx";
import { ReadState } from "../../parts/read-state.tsx";
import type { Column, Filter } from "../../parts/table/column.ts";
import { DataTable } from "../../parts/table/data-table.tsx";
import type { RowAction } from "../../parts/table/table-props.ts";
import { TimeText } from "../../parts/text/time-text.tsx";
import { client } from "../../session.ts";
import { openPanel } from "../../shell/side-panel.tsx";
import { MachineHistory } from "./machine-history.tsx";
import { machineStateText } from "./machine-state.ts";

/** A machine with the status of its node, once it has one. */
interface MachineRow {
  readonly machine: ClusterMachine;
  readonly node: NodeStatus | undefined;
}

const columns: readonly Column<MachineRow>[] = [
  { id: "name", title: "Machine", cell: titleOf, sortBy: titleOf },
  { id: "pool", title: "Pool", width: "short", cell: poolOf, sortBy: poolOf, onCard: "place" },
  { id: "state", title: "State", width: "short", cell: stateText, sortBy: stateText, onCard: "place" },
  {
    id: "node",
    title: "Node",
    width: "short",
    cell: ({ node }) => node?.k8sNodeStatus || "—",
    sortBy: ({ node }) => node?.k8sNodeStatus,
    onCard: "figure",
  },
  { id: "maas", title: "MAAS", width: "short", rank: 3, cell: ({ node }) => node?.maasNodeStatus || "—" },
  {
    id: "address",
    title: "Address",
    width: "short",
    rank: 2,
    cell: ({ machine }) => machine.ipAddress || "—",
  },
  { id: "version", title: "Version", width: "figure", rank: 3, cell: ({ machine }) => machine.k8sVersion },
  {
    id: "since",
    title: "Since",
    width: "time",
    rank: 2,
    isNumber: true,
    cell: ({ machine }) => <TimeText at={machine.since} />,
    onCard: "place",
  },
];

const filters: readonly Filter<MachineRow>[] = [
  { id: "pool", title: "pool", valuesOf: (row) => [poolOf(row)] },
  { id: "state", title: "state", valuesOf: (row) => [stateText(row)] },
];

const actions: readonly RowAction<MachineRow>[] = [
  {
    text: "History",
    icon: "list",
    key: "h",
    run: (row) => openPanel(`History of ${titleOf(row)}`, () => <MachineHistory of={row.machine} />),
  },
];

/** The machines of a cluster with the status of their nodes; released ones apart. */
export function ClusterMachines({ cluster }: { readonly cluster: string }) {
  const machines = useRead((options) => client.clusters.listMachines({ cluster }, options), {
    topics: ["clusters"],
    key: cluster,
  });
  const nodes = useRead((options) => client.kaas.getClusterNodesStatus({ clusterName: cluster }, options), {
    topics: ["clusters"],
    key: cluster,
  });
  const { value, error } = nodes.reading.value;
  const reload = () => {
    machines.reload();
    nodes.reload();
  };
  return (
    <>
      <div class="row">
        <h2>Machines</h2>
        <button type="button" class="small" onClick={reload} disabled={nodes.reading.value.isReading}>
          Refresh
        </button>
      </div>
      {error !== undefined && <ErrorNote error={error} />}
      <ReadState of={machines.reading}>
        {({ machines: all }) => {
          const rows = rowsOf(all, value?.machines ?? []);
          const released = rows.filter(isReleased);
          return (
            <>
              <MachineTable
                name="machines"
                caption="Machines"
                rows={rows.filter((row) => !isReleased(row))}
                empty="No machines."
              />
              {released.length > 0 && (
                <details>
                  <summary>{released.length} released</summary>
                  <MachineTable name="released" caption="Released machines" rows={released} empty="" />
                </details>
              )}
            </>
          );
        }}
      </ReadState>
    </>
  );
}

function MachineTable(props: {
  readonly name: string;
  readonly caption: string;
  readonly rows: readonly MachineRow[];
  readonly empty: string;
}) {
  return (
    <DataTable
      {...props}
      columns={columns}
      keyOf={({ machine }) => machine.id}
      titleOf={titleOf}
      statusOf={({ machine, node }) => machineStatus(machine, node)}
      textOf={({ machine }) => `${machine.pool} ${machine.systemId} ${machine.ipAddress} ${machine.message}`}
      filters={filters}
      actions={actions}
    />
  );
}

function rowsOf(machines: readonly ClusterMachine[], nodes: readonly NodeStatus[]): readonly MachineRow[] {
  const bySystemId = new Map(nodes.map((node) => [node.maasSystemId, node]));
  return machines.map((machine) => ({
    machine,
    node:
      machine.systemId === "" || machine.state === ClusterMachineState.RELEASED
        ? undefined
        : bySystemId.get(machine.systemId),
  }));
}

/** A machine that has joined is as healthy as its node. */
function machineStatus({ state }: ClusterMachine, node: NodeStatus | undefined) {
  const { kind, text } = machineStateText(state);
  return state === ClusterMachineState.JOINED &&
    node !== undefined &&
    /^(NotReady|ErrorMachine)\b/.test(node.k8sNodeStatus)
    ? ({ kind: "failed", text: node.k8sNodeStatus } as const)
    : { kind, text };
}

function isReleased({ machine }: MachineRow): boolean {
  return machine.state === ClusterMachineState.RELEASED;
}

function titleOf({ machine: { hostname, systemId } }: MachineRow): string {
  return hostname || systemId || "not chosen yet";
}

function poolOf({ machine: { pool } }: MachineRow): string {
  return pool === "" ? "control plane" : pool;
}

function stateText({ machine: { state, message } }: MachineRow): string {
  const { text } = machineStateText(state);
  return message === "" ? text : `${text}: ${message}`;
}
