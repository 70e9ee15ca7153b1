import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { useRead } from "../../live/use-read.ts";
import { ReadState } from "../../parts/read-state.tsx";
import { DataTable } from "../../parts/table/data-table.tsx";
import { client } from "../../session.ts";
import { auditColumns, auditRow } from "../columns/audit-columns.tsx";

/** Who changed a resource or one below it, newest first. */
export function ResourceAudit({ resource: { name } }: { readonly resource: Resource }) {
  const { reading } = useRead(
    async (options) => (await client.audit.listEvents({ resource: name }, options)).events,
    { key: name, topics: ["operations"] },
  );
  return (
    <ReadState of={reading}>
      {(events) => (
        <DataTable
          {...auditRow}
          name="audit"
          caption="Audit"
          columns={auditColumns}
          rows={events}
          empty="No changes through the gateway."
        />
      )}
    </ReadState>
  );
}
