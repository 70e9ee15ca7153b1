import { toJsonString } from "@bufbuild/protobuf";
import { useComputed, useSignal } from "@preact/signals";
import { type Event, EventSchema } from "../../../gen/hostplane/v1/event_pb.ts";
import { keptEvents, recentEvents } from "../../live/event-stream.ts";
import { useEventsSince } from "../../live/use-events-since.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { eventColumns } from "../../parts/event-columns.tsx";
import { SelectField } from "../../parts/form/select-field.tsx";
import { TextField } from "../../parts/form/text-field.tsx";
import { useAddressParameter } from "../../parts/use-address-parameter.ts";
import { isAbout } from "./is-about.ts";

const topics = ["volumes", "storage", "hypervisors", "clusters", "pods", "operations"];
const topicOptions = [
  { value: "", text: "all" },
  ...topics.map((topic) => ({ value: topic, text: topic === "storage" ? "storage (Ceph)" : topic })),
];

const columns: readonly Column<Event>[] = [
  ...eventColumns,
  {
    title: "Details",
    cell: (event) => (
      <details>
        <summary>JSON</summary>
        <pre class="json">{toJsonString(EventSchema, event, { prettySpaces: 2 })}</pre>
      </details>
    ),
  },
];

/** Events as they happen, and those since a time. */
export function Events() {
  const topic = useAddressParameter("topic");
  const resource = useAddressParameter("resource");
  const since = useAddressParameter("since");
  const paused = useSignal<readonly Event[] | undefined>(undefined);
  const sinceMs = since.value === "" ? undefined : new Date(since.value).getTime();
  const past = useEventsSince(sinceMs);
  const events = useComputed(() => {
    const all = paused.value ?? (since.value === "" ? recentEvents.value : past.value.events);
    return all.filter(
      (event) => (topic.value === "" || event.topic === topic.value) && isAbout(event, resource.value),
    );
  });

  return (
    <>
      <div class="heading">
        <h1>Events</h1>
        <button
          type="button"
          aria-pressed={paused.value !== undefined}
          onClick={() => {
            const shown = since.value === "" ? recentEvents.value : past.value.events;
            paused.value = paused.value === undefined ? shown : undefined;
          }}
        >
          {paused.value === undefined ? "Pause" : "Resume"}
        </button>
      </div>
      <div class="filters">
        <SelectField label="Topic" value={topic} options={topicOptions} />
        <TextField
          label="Resource"
          type="search"
          value={resource}
          hint="The path of a resource, or the start of it."
        />
        <TextField
          label="Since"
          type="datetime-local"
          value={since}
          hint="Empty: an hour before the page was opened."
        />
      </div>
      {past.value.error !== undefined && <ErrorNote error={past.value.error} />}
      <p class="quiet" role="status">
        {paused.value === undefined
          ? `Newest first; up to ${keptEvents} are kept.`
          : "Paused: new events are shown after resuming."}
      </p>
      <div class="card">
        <DataTable
          caption="Events"
          columns={columns}
          rows={events.value}
          keyOf={({ cursor }) => cursor}
          empty="No matching events. Create a volume or start a pod to see one."
        />
      </div>
    </>
  );
}
