import { type ClusterMachine, ClusterMachineState } from "../../../gen/hostplane/v1/cluster_pb.ts";
import { useRead } from "../../live/use-read.ts";
import { Badge } from "../../parts/badge.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { ReadState } from "../../parts/read-state.tsx";
import { TimeText } from "../../parts/text/time-text.tsx";
import { client } from "../../session.ts";
import { machineStateText } from "./machine-state.ts";

const columns: readonly Column<ClusterMachine>[] = [
  { title: "Machine", cell: MachineName },
  { title: "Pool", cell: ({ pool }) => (pool === "" ? "control plane" : pool) },
  { title: "State", cell: State },
  { title: "Since", cell: ({ since }) => <TimeText at={since} /> },
  { title: "Version", cell: ({ k8sVersion }) => k8sVersion },
  { title: "History", cell: History },
];

/** The machines of a cluster with the history of each, including released ones. */
export function ClusterMachines({ cluster }: { readonly cluster: string }) {
  const { reading } = useRead((options) => client.clusters.listMachines({ cluster }, options), {
    topics: ["clusters"],
    key: cluster,
  });
  return (
    <section class="card stack">
      <ReadState of={reading}>
        {({ machines }) => {
          const released = machines.filter(isReleased);
          return (
            <>
              <MachineTable
                caption="Machines"
                of={machines.filter((machine) => !isReleased(machine))}
                empty="No machines."
              />
              {released.length > 0 && (
                <details>
                  <summary>{released.length} released</summary>
                  <MachineTable caption="Released machines" of={released} empty="" />
                </details>
              )}
            </>
          );
        }}
      </ReadState>
    </section>
  );
}

function isReleased({ state }: ClusterMachine): boolean {
  return state === ClusterMachineState.RELEASED;
}

function MachineTable(props: {
  readonly caption: string;
  readonly of: readonly ClusterMachine[];
  readonly empty: string;
}) {
  const { caption, of: machines, empty } = props;
  return (
    <DataTable caption={caption} columns={columns} rows={machines} keyOf={({ id }) => id} empty={empty} />
  );
}

function MachineName({ hostname, systemId, ipAddress }: ClusterMachine) {
  return (
    <>
      <div>{hostname || "not chosen yet"}</div>
      <div class="quiet">
        <code>{[systemId, ipAddress].filter((text) => text !== "").join(" ")}</code>
      </div>
    </>
  );
}

function State({ state, message }: ClusterMachine) {
  const { tone, text } = machineStateText(state);
  return (
    <>
      <Badge tone={tone}>{text}</Badge>
      {message !== "" && <div>{message}</div>}
    </>
  );
}

function History({ history }: ClusterMachine) {
  return (
    <details>
      <summary>{history.length === 1 ? "1 entry" : `${history.length} entries`}</summary>
      <ol class="history">
        {history.map(({ at, state, message }, index) => (
          <li key={index}>
            <TimeText at={at} /> {machineStateText(state).text}
            {message !== "" && `: ${message}`}
          </li>
        ))}
      </ol>
    </details>
  );
}
