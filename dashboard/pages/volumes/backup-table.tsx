import { Link } from "wouter-preact";
import type { Backup } from "../../../gen/hostplane/v1/backup_pb.ts";
import { Badge } from "../../parts/badge.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { sizeText } from "../../parts/text/size-text.ts";
import { TimeText } from "../../parts/text/time-text.tsx";
import { volumeOf } from "./backup-list.ts";

const columns: readonly Column<Backup>[] = [
  { title: "Backup", cell: ({ id, name }) => <Link href={`/backups/${id}`}>{name}</Link> },
  { title: "Volume", cell: (backup) => volumeOf(backup) },
  { title: "Size", isNumber: true, cell: ({ sizeBytes }) => sizeText(sizeBytes) },
  { title: "As of", cell: ({ at }) => <TimeText at={at} /> },
  { title: "Verified", cell: (backup) => <Verified of={backup} /> },
  { title: "Created by", cell: ({ schedule, actor }) => (schedule === "" ? actor : `schedule ${schedule}`) },
];

/** Backups, each linked to its page. */
export function BackupTable(props: {
  readonly caption: string;
  readonly backups: readonly Backup[];
  readonly empty: string;
}) {
  return (
    <DataTable
      caption={props.caption}
      columns={columns}
      rows={props.backups}
      keyOf={({ id }) => id}
      empty={props.empty}
    />
  );
}

/** Shows whether the backup was verified, and the damage if there is any. */
export function Verified({ of: { damage, verifiedAt } }: { readonly of: Backup }) {
  if (damage !== "") {
    return <Badge tone="bad">damaged</Badge>;
  }
  return verifiedAt === undefined ? <span class="quiet">never</span> : <TimeText at={verifiedAt} />;
}
