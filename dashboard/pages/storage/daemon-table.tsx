import type { Services } from "../../../gen/resources/stats/stats_pb.ts";
import { resourcesOf } from "../../live/inventory.ts";
import type { Column } from "../../parts/table/column.ts";
import { DataTable } from "../../parts/table/data-table.tsx";
import { type Daemon, daemonsFrom } from "./daemons.ts";
import { cephHostKind, osdKind } from "./storage-kinds.tsx";

const columns: readonly Column<Daemon>[] = [
  { id: "name", title: "Daemon", cell: ({ name }) => name, sortBy: ({ name }) => name },
  {
    id: "type",
    title: "Service",
    width: "medium",
    cell: ({ service }) => service,
    sortBy: ({ service }) => service,
    onCard: "place",
  },
  {
    id: "host",
    title: "Host",
    width: "medium",
    cell: ({ host }) => host.title,
    sortBy: ({ host }) => host.title,
    onCard: "place",
  },
  {
    id: "state",
    title: "State",
    width: "medium",
    cell: ({ state }) => state ?? "—",
    sortBy: ({ state }) => state,
    onCard: "figure",
  },
];

/** The daemons of all hosts. @param services what the cluster reports of its services, while it is known */
export function DaemonTable({ services }: { readonly services: Services | undefined }) {
  return (
    <DataTable
      name="daemons"
      caption="Daemons"
      columns={columns}
      rows={daemonsFrom(resourcesOf("cephHost"), resourcesOf("osd"), services)}
      keyOf={({ name, host }) => `${host.name} ${name}`}
      titleOf={({ name }) => name}
      pathOf={({ osd, host }) => (osd === undefined ? cephHostKind.pathOf(host) : osdKind.pathOf(osd))}
      statusOf={({ status, state }) => ({ kind: status, text: state ?? "not known" })}
      textOf={({ service, host }) => `${service} ${host.title}`}
      filters={[
        { id: "service", title: "service", valuesOf: ({ service }) => [service] },
        { id: "host", title: "host", valuesOf: ({ host }) => [host.title] },
      ]}
      empty="No daemons are known."
    />
  );
}
