import { Link } from "wouter-preact";
import { recentEvents } from "../../live/event-stream.ts";
import { DataTable } from "../../parts/data-table.tsx";
import { eventColumns } from "../../parts/event-columns.tsx";
import { latestOfEach } from "../../parts/latest-of-each.ts";

const shownEvents = 6;

/** The most recent events. */
export function RecentEvents() {
  return (
    <div class="card">
      <DataTable
        caption="Recent events"
        columns={eventColumns}
        rows={latestOfEach(recentEvents.value).slice(0, shownEvents)}
        keyOf={({ cursor }) => cursor}
        empty="No events in the last hour."
      />
      <p class="more">
        <Link href="/events">All events</Link>
      </p>
    </div>
  );
}
