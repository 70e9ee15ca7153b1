import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Event } from "../../../gen/hostplane/v1/event_pb.ts";
import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { resourceAt } from "../../live/inventory.ts";
import { eventSeverity } from "../../parts/event/event-severity.ts";
import type { FoldedEvent } from "../../parts/event/fold-events.ts";
import type { Column } from "../../parts/table/column.ts";
import { eventText } from "../../parts/text/event-text.ts";
import { eventTitle } from "../../parts/text/event-title.ts";
import { resourceTitle } from "../../parts/text/operation-title.ts";
import { TimeText } from "../../parts/text/time-text.tsx";
import { pathOfResource } from "../kinds.ts";

/** Columns of a table of events. */
export const eventColumns: readonly Column<FoldedEvent>[] = [
  {
    id: "what",
    title: "What",
    cell: ({ event, count }) => (
      <>
        {titleOf(event)}{" "}
        {count > 1 && event.detail.case !== "operation" && <span class="tag">{count} times</span>}
      </>
    ),
    sortBy: ({ event }) => titleOf(event),
  },
  { id: "detail", title: "Detail", width: "wide", cell: ({ event }) => eventText(event), onCard: "figure" },
  {
    id: "at",
    title: "When",
    width: "time",
    isNumber: true,
    cell: ({ event }) => <TimeText at={event.at} />,
    sortBy: ({ event }) => (event.at === undefined ? undefined : timestampMs(event.at)),
    onCard: "place",
  },
];

/** What every table of events has in common. */
export const eventRow = {
  keyOf: ({ event }: FoldedEvent) => event.cursor,
  titleOf: ({ event }: FoldedEvent) => titleOf(event),
  pathOf: ({ event }: FoldedEvent) => pathOf(event),
  statusOf: ({ event }: FoldedEvent) => eventSeverity(event),
  textOf: ({ event }: FoldedEvent) =>
    `${event.type} ${event.resource} ${event.fleetHost} ${eventText(event)}`,
};

function titleOf(event: Event): string {
  return eventTitle(event, nameOf(event));
}

/** The resource's title; its name's last part if it is gone. */
function nameOf({ fleetHost, resource }: Event): string {
  return resourceAt(fleetHost, resource)?.title ?? resourceTitle(resource);
}

/** The resource of an event, or the one it belongs to: a pod for one of its containers. */
function resourceOf({ fleetHost, resource }: Event): Resource | undefined {
  return resourceAt(fleetHost, resource) ?? resourceAt(fleetHost, resource.replace(/\/[^/]+\/[^/]+$/, ""));
}

function pathOf(event: Event): string {
  const { operationId, detail } = event;
  const id = detail.case === "operation" ? detail.value.id : operationId;
  return id === "" ? (pathOfResource(resourceOf(event)) ?? "/events") : `/operations/${id}`;
}
