import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { figureOf, resourcesOf } from "../../live/inventory.ts";
import { healthStatus } from "../../parts/status.tsx";
import type { Column } from "../../parts/table/column.ts";
import { DataTable } from "../../parts/table/data-table.tsx";
import { sizeText } from "../../parts/text/size-text.ts";
import { TimeText } from "../../parts/text/time-text.tsx";

const columns: readonly Column<Resource>[] = [
  { id: "name", title: "Backup", cell: ({ title }) => title, sortBy: ({ title }) => title },
  { id: "volume", title: "Volume", width: "wide", cell: volumeText, sortBy: volumeText, onCard: "place" },
  {
    id: "size",
    title: "Size",
    width: "figure",
    isNumber: true,
    cell: (backup) => sizeText(figureOf(backup, "size") ?? 0),
    sortBy: (backup) => figureOf(backup, "size"),
    onCard: "figure",
  },
  { id: "state", title: "State", width: "medium", cell: ({ state }) => state, onCard: "place" },
  { id: "schedule", title: "Schedule", width: "short", cell: ({ labels }) => labels.schedule ?? "" },
  {
    id: "created",
    title: "As of",
    width: "time",
    isNumber: true,
    cell: (backup) => <TimeText atMs={(figureOf(backup, "created") ?? 0) * 1000} />,
    sortBy: (backup) => figureOf(backup, "created"),
    onCard: "figure",
  },
];

/** The backups of LVM volumes, or of one of them. @param volume the volume's resource; absent for all */
export function BackupList({ volume }: { readonly volume?: string }) {
  const backups = resourcesOf("backup").filter(({ labels }) =>
    volume === undefined ? labels.volume?.startsWith("volumeGroups/") : labels.volume === volume,
  );
  return backups.length === 0 && volume === undefined ? null : (
    <DataTable
      name="backups"
      caption="Backups"
      columns={columns}
      rows={backups}
      keyOf={({ name }) => name}
      titleOf={({ title }) => title}
      pathOf={({ properties }) => `/volumes/backups/${properties.id}`}
      statusOf={({ health, state }) => ({ kind: healthStatus(health), text: state })}
      textOf={(backup) => `${volumeText(backup)} ${backup.labels.schedule ?? ""}`}
      filters={[{ id: "schedule", title: "schedule", valuesOf: ({ labels }) => [labels.schedule ?? ""] }]}
      empty="No backups yet."
    />
  );
}

/** "vg0/data" for a backup of "volumeGroups/vg0/volumes/data". */
function volumeText({ labels }: Resource): string {
  return (labels.volume ?? "").replace(/^volumeGroups\/([^/]+)\/volumes\//, "$1/");
}
