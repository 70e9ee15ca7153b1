import { ClusterService, type StrayMachine } from "../../../gen/hostplane/v1/cluster_pb.ts";
import { Role } from "../../../gen/hostplane/v1/user_pb.ts";
import { propose } from "../../action/action.ts";
import { useRead } from "../../live/use-read.ts";
import { isOff } from "../../parts/is-off.ts";
import { Note } from "../../parts/note.tsx";
import { ReadState } from "../../parts/read-state.tsx";
import type { Column } from "../../parts/table/column.ts";
import { DataTable } from "../../parts/table/data-table.tsx";
import type { RowAction } from "../../parts/table/table-props.ts";
import { client, hasRole } from "../../session.ts";

const columns: readonly Column<StrayMachine>[] = [
  { id: "name", title: "Machine", cell: ({ hostname }) => hostname, sortBy: ({ hostname }) => hostname },
  {
    id: "id",
    title: "Id in MAAS",
    width: "short",
    cell: ({ systemId }) => <code>{systemId}</code>,
    onCard: "place",
  },
  {
    id: "status",
    title: "MAAS status",
    width: "short",
    cell: ({ maasStatus }) => maasStatus,
    onCard: "place",
  },
  { id: "place", title: "Allocated for", width: "wide", cell: allocatedForText, onCard: "figure" },
  { id: "details", title: "Details", width: "wide", rank: 2, cell: ({ message }) => message },
];

/** The machines that MAAS has allocated to the gateway and that belong to no cluster. */
export function Strays() {
  const { reading, reload } = useRead((options) => client.clusters.listStrays({}, options), {
    topics: ["clusters"],
  });
  if (isOff(reading.value)) {
    return null;
  }
  return (
    <section class="stack" aria-labelledby="strays">
      <div class="row">
        <h2 id="strays">Stray machines</h2>
        <button type="button" class="small" onClick={reload} disabled={reading.value.isReading}>
          Refresh
        </button>
      </div>
      <ReadState of={reading}>
        {({ strays, reportOnlyBecause }) => (
          <>
            {reportOnlyBecause !== "" && (
              <Note tone="warn">The gateway releases none automatically: {reportOnlyBecause}</Note>
            )}
            {strays.length === 0 ? (
              <p class="quiet">Every machine that is allocated to the gateway belongs to a cluster.</p>
            ) : (
              <DataTable
                name="strays"
                caption="Stray machines"
                columns={columns}
                rows={strays}
                keyOf={({ systemId }) => systemId}
                titleOf={({ hostname }) => hostname}
                statusOf={({ maasStatus }) => ({ kind: "warn", text: maasStatus })}
                actions={hasRole(Role.OPERATOR) ? actionsWith(reload) : []}
                empty=""
              />
            )}
          </>
        )}
      </ReadState>
    </section>
  );
}

function allocatedForText({ cluster, pool, ours }: StrayMachine): string {
  if (cluster === "") {
    return "no annotation";
  }
  const place = pool === "" ? "its control plane" : `its node pool ${pool}`;
  return `${cluster}, ${place}${ours ? "" : "; by another gateway"}`;
}

function actionsWith(onDone: () => void): readonly RowAction<StrayMachine>[] {
  return [
    {
      text: "Adopt…",
      icon: "plus",
      appliesTo: ({ adoptable }) => adoptable,
      run: ({ systemId, hostname, cluster }) =>
        propose({
          title: `Adopt ${hostname} into the cluster ${cluster}`,
          label: "Adopt",
          method: ClusterService.method.adoptStray,
          request: { systemId },
          onDone,
        }),
    },
    {
      text: "Release…",
      icon: "exit",
      isDestructive: true,
      run: ({ systemId, hostname }) =>
        propose({
          title: `Release ${hostname} to MAAS`,
          label: "Release",
          method: ClusterService.method.releaseStray,
          request: { systemId },
          isDangerous: true,
          confirmName: hostname,
          onDone,
        }),
    },
  ];
}
