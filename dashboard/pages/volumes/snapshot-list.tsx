import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { resourcesOf } from "../../live/inventory.ts";
import { DataTable } from "../../parts/table/data-table.tsx";
import { kindOf, pathOfResource } from "../../resources/kinds.ts";
import { volumeColumns, volumeRow } from "./volume-columns.tsx";
import { groupOf } from "./volume-facts.ts";

const columns = volumeColumns(new Map()).filter(({ id }) => ["name", "size", "used", "tags"].includes(id));

/** The snapshots of a volume, or the volumes in a thin pool. */
export function SnapshotList({ resource }: { readonly resource: Resource }) {
  const isPool = resource.type === "thinPool";
  const rows = resourcesOf("volume").filter(
    (one) =>
      groupOf(one) === groupOf(resource) &&
      (isPool ? one.properties.thin_pool : one.properties.origin) === resource.title,
  );
  return (
    <DataTable
      {...volumeRow}
      name="snapshots"
      caption={isPool ? "Volumes in the pool" : "Snapshots"}
      columns={columns}
      rows={rows}
      pathOf={(volume) => pathOfResource(volume) ?? "/volumes"}
      actions={rows[0] === undefined ? [] : kindOf(rows[0]).actions()}
      empty={isPool ? "No volumes yet." : "No snapshots yet."}
    />
  );
}
