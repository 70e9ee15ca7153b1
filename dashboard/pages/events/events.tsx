import { useComputed, useSignal } from "@preact/signals";
import type { Event } from "../../../gen/hostplane/v1/event_pb.ts";
import { keptEvents, recentEvents } from "../../live/event-stream.ts";
import { useEventsSince } from "../../live/use-events-since.ts";
import { useAddressParameter } from "../../parts/address/use-address-parameter.ts";
import { ErrorNote } from "../../parts/error-note.tsx";
import { eventSeverity } from "../../parts/event/event-severity.ts";
import { type FoldedEvent, foldEvents } from "../../parts/event/fold-events.ts";
import { SelectField } from "../../parts/form/select-field.tsx";
import type { Filter } from "../../parts/table/column.ts";
import { DataTable } from "../../parts/table/data-table.tsx";
import { eventColumns, eventRow } from "../../resources/columns/event-columns.tsx";
import { withHostColumn } from "../../resources/columns/with-host-column.tsx";
import { Page } from "../../shell/page.tsx";

const hourMs = 3_600_000;

/** How far back the list goes, by the value in the address. */
const spans = [
  { value: "", text: "the last hour", ms: undefined },
  { value: "6h", text: "6 hours", ms: 6 * hourMs },
  { value: "24h", text: "24 hours", ms: 24 * hourMs },
  { value: "7d", text: "7 days", ms: 7 * 24 * hourMs },
] as const;

const filters: readonly Filter<FoldedEvent>[] = [
  { id: "topic", title: "topic", valuesOf: ({ event }) => [event.topic] },
  {
    id: "host",
    title: "host",
    valuesOf: ({ event: { fleetHost } }) => (fleetHost === "" ? [] : [fleetHost]),
  },
  { id: "severity", title: "severity", valuesOf: ({ event }) => [eventSeverity(event).text] },
];

/** What happened, live; repeated events in one line. */
export function Events() {
  const span = useAddressParameter("since");
  const paused = useSignal<readonly Event[] | undefined>(undefined);
  const openedAtMs = useSignal(Date.now());
  const back = spans.find(({ value }) => value === span.value)?.ms;
  const past = useEventsSince(back === undefined ? undefined : openedAtMs.value - back);
  const live = useComputed(() => (back === undefined ? recentEvents.value : past.value.events));
  const folded = useComputed(() => foldEvents(paused.value ?? live.value));
  const columns = withHostColumn(eventColumns, ({ event }) => event.fleetHost);
  return (
    <Page title="Events" note={`newest first, up to ${keptEvents}`}>
      {past.value.error !== undefined && <ErrorNote error={past.value.error} />}
      <DataTable
        {...eventRow}
        caption="Events"
        columns={columns}
        rows={folded.value}
        filters={filters}
        hasTools
        tools={
          <>
            <SelectField label="Since" value={span} options={spans} isInline />
            <button
              type="button"
              aria-pressed={paused.value !== undefined}
              onClick={() => {
                paused.value = paused.value === undefined ? live.value : undefined;
              }}
            >
              {paused.value === undefined ? "Pause" : "Resume"}
            </button>
          </>
        }
        empty="No events in this time."
      />
    </Page>
  );
}
