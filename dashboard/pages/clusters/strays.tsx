import { ClusterService, type StrayMachine } from "../../../gen/hostplane/v1/cluster_pb.ts";
import { Role } from "../../../gen/hostplane/v1/user_pb.ts";
import { propose } from "../../action/action.ts";
import { useRead } from "../../live/use-read.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { ReadState } from "../../parts/read-state.tsx";
import { client, hasRole } from "../../session.ts";

const columns: readonly Column<StrayMachine>[] = [
  { title: "Hostname", cell: ({ hostname }) => hostname },
  { title: "Id in MAAS", cell: ({ systemId }) => <code>{systemId}</code> },
  { title: "MAAS status", cell: ({ maasStatus }) => maasStatus },
  { title: "Allocated for", cell: allocatedForText },
  { title: "Details", cell: ({ message }) => message },
];

/** The machines that MAAS has allocated to the gateway and that belong to no cluster, with their actions. */
export function Strays() {
  const { reading, reload } = useRead((options) => client.clusters.listStrays({}, options), {
    topics: ["clusters"],
  });
  const actions = { title: "Action", cell: (stray: StrayMachine) => <Settle of={stray} onDone={reload} /> };
  return (
    <section class="card stack" aria-labelledby="strays">
      <div class="row">
        <h2 id="strays">Strays</h2>
        <button type="button" onClick={reload} disabled={reading.value.isReading}>
          Refresh
        </button>
      </div>
      <ReadState of={reading}>
        {({ strays, reportOnlyBecause }) => (
          <>
            {reportOnlyBecause !== "" && (
              <p class="note warn">The gateway releases none automatically: {reportOnlyBecause}</p>
            )}
            {strays.length === 0 ? (
              <p class="quiet">Every machine that is allocated to the gateway belongs to a cluster.</p>
            ) : (
              <DataTable
                caption="Machines that belong to no cluster"
                columns={hasRole(Role.OPERATOR) ? [...columns, actions] : columns}
                rows={strays}
                keyOf={({ systemId }) => systemId}
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

function Settle(props: { readonly of: StrayMachine; readonly onDone: () => void }) {
  const { systemId, hostname, cluster, adoptable } = props.of;
  const { onDone } = props;
  const request = { systemId };
  return (
    <div class="row">
      {adoptable && (
        <button
          type="button"
          class="small"
          aria-label={`Adopt ${hostname}`}
          onClick={() =>
            propose({
              title: `Adopt ${hostname} into the cluster ${cluster}`,
              label: "Adopt",
              method: ClusterService.method.adoptStray,
              request,
              onDone,
            })
          }
        >
          Adopt
        </button>
      )}
      <button
        type="button"
        class="small danger"
        aria-label={`Release ${hostname}`}
        onClick={() =>
          propose({
            title: `Release ${hostname} to MAAS`,
            label: "Release",
            method: ClusterService.method.releaseStray,
            request,
            isDangerous: true,
            onDone,
          })
        }
      >
        Release
      </button>
    </div>
  );
}
