import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { figureOf, resourcesOf } from "../../live/inventory.ts";
import { Meter } from "../../parts/figure/meter.tsx";
import { RowSparkline } from "../../parts/figure/row-sparkline.tsx";
import { healthStatus } from "../../parts/status.tsx";
import type { Column } from "../../parts/table/column.ts";
import { DataTable } from "../../parts/table/data-table.tsx";
import { sizeText } from "../../parts/text/size-text.ts";
import { cephHostKind, daemonsOf, hostOf } from "./storage-kinds.tsx";

/** The space of a host's OSDs, as far as it is known. */
export interface HostSpace {
  readonly osdCount: number;
  readonly sizeBytes: number | undefined;
  readonly usedPercent: number | undefined;
}

/** The machines that run the cluster's daemons. */
export function HostTable() {
  const osds = Map.groupBy(resourcesOf("osd"), hostOf);
  const spaceOf = ({ title }: Resource) => hostSpace(osds.get(title) ?? []);
  const columns: readonly Column<Resource>[] = [
    { id: "name", title: "Host", cell: ({ title }) => title, sortBy: ({ title }) => title },
    { id: "state", title: "State", width: "medium", cell: stateText, onCard: "place" },
    {
      id: "osds",
      title: "OSDs",
      width: "figure",
      isNumber: true,
      cell: (host) => spaceOf(host).osdCount,
      sortBy: (host) => spaceOf(host).osdCount,
    },
    {
      id: "size",
      title: "Size",
      width: "figure",
      isNumber: true,
      cell: (host) => sizeOfHost(spaceOf(host)),
      onCard: "figure",
    },
    {
      id: "used",
      title: "Used",
      width: "usage",
      cell: (host) => <Meter percent={spaceOf(host).usedPercent} label={`${host.title}, in use`} />,
      sortBy: (host) => spaceOf(host).usedPercent,
      onCard: "figure",
    },
    {
      id: "day",
      title: "24 h",
      width: "chart",
      rank: 2,
      cell: ({ title }) => (
        <RowSparkline
          resource={(osds.get(title) ?? []).map(({ name }) => name)}
          figure="used"
          label={`Used space of ${title}`}
        />
      ),
    },
    {
      id: "daemons",
      title: "Daemons",
      width: "wide",
      rank: 2,
      cell: (host) => daemonsOf(host).join(", ") || "—",
      onCard: "place",
    },
  ];
  return (
    <DataTable
      name="hosts"
      caption="Hosts"
      columns={columns}
      rows={resourcesOf("cephHost")}
      keyOf={({ name }) => name}
      titleOf={({ title }) => title}
      pathOf={cephHostKind.pathOf}
      statusOf={({ health, state }) => ({ kind: healthStatus(health), text: state })}
      textOf={(host) => daemonsOf(host).join(" ")}
      empty="No host runs a daemon of the cluster."
    />
  );
}

/** Sums up the space of a host's OSDs; unknown if that of one is not known. */
export function hostSpace(osds: readonly Resource[]): HostSpace {
  const sum = (figure: string) =>
    osds.reduce<number | undefined>((total, osd) => {
      const value = figureOf(osd, figure);
      return total === undefined || value === undefined ? undefined : total + value;
    }, 0);
  const [sizeBytes, usedBytes] = [sum("size"), sum("used")];
  const usedPercent =
    sizeBytes === undefined || sizeBytes === 0 || usedBytes === undefined
      ? undefined
      : (usedBytes / sizeBytes) * 100;
  return { osdCount: osds.length, sizeBytes, usedPercent };
}

/** Formats the size of a host's OSDs. */
export function sizeOfHost({ sizeBytes }: HostSpace): string {
  return sizeBytes === undefined ? "—" : sizeText(sizeBytes);
}

function stateText({ state, reason }: Resource): string {
  return reason === "" ? state : reason;
}
