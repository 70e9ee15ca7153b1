import { Link } from "wouter-preact";
import type { Event } from "../../gen/hostplane/v1/event_pb.ts";
import { Badge } from "./badge.tsx";
import type { Column } from "./data-table.tsx";
import { eventText } from "./text/event-text.ts";
import { TimeText } from "./text/time-text.tsx";

/** Columns of a table of events. */
export const eventColumns: readonly Column<Event>[] = [
  { title: "When", cell: ({ at }) => <TimeText at={at} /> },
  {
    title: "What",
    cell: ({ type }) => (type === "gap" ? <Badge tone="warn">gap</Badge> : <span class="keep">{type}</span>),
  },
  {
    title: "Resource",
    cell: ({ resource, operationId }) => (
      <>
        <code class="path">{resource}</code>
        {operationId !== "" && (
          <>
            {" "}
            <Link href={`~/operations/${operationId}`}>operation</Link>
          </>
        )}
      </>
    ),
  },
  { title: "Summary", cell: (event) => <div class="sentence">{eventText(event)}</div> },
];
