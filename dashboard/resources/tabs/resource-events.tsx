import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { useResourceEvents } from "../../live/use-resource-events.ts";
import { foldEvents } from "../../parts/event/fold-events.ts";
import { ReadState } from "../../parts/read-state.tsx";
import { DataTable } from "../../parts/table/data-table.tsx";
import { eventColumns, eventRow } from "../columns/event-columns.tsx";

/** The events of a resource in the last 24 hours, newest first, live; repeated ones in one line. */
export function ResourceEvents({ resource: { name } }: { readonly resource: Resource }) {
  const events = useResourceEvents(name);
  return (
    <ReadState of={events}>
      {(all) => (
        <DataTable
          {...eventRow}
          name="events"
          caption="Events"
          columns={eventColumns}
          rows={foldEvents(all)}
          empty="No events in the last 24 hours."
        />
      )}
    </ReadState>
  );
}
