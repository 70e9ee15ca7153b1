import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Event } from "../../../gen/hostplane/v1/event_pb.ts";
import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { type ChartMark, HistoryChart } from "../../charts/history-chart.tsx";
import { figureOf } from "../../live/inventory.ts";
import { useHistory } from "../../live/use-history.ts";
import { useResourceEvents } from "../../live/use-resource-events.ts";
import { eventSeverity } from "../../parts/event/event-severity.ts";
import { ReadState } from "../../parts/read-state.tsx";
import { eventTitle } from "../../parts/text/event-title.ts";
import { figureText, figureTitle } from "../../parts/text/figure-text.ts";

/** A chart is some 600 px wide. */
const points = 288;

/** The figures of a resource over the last 24 hours, with marks for its events. */
export function ResourceHistory({ resource }: { readonly resource: Resource }) {
  const history = useHistory([resource.name], points);
  const events = useResourceEvents(resource.name).value.value ?? [];
  const marks = events.flatMap((event) => markOf(event, resource.title));
  const size = figureOf(resource, "size");
  return (
    <ReadState of={history}>
      {({ startMs, intervalMs, subjects }) => {
        const figures = [...(subjects.get(resource.name)?.figures ?? [])].filter(
          ([, { unit }]) => unit !== "seconds",
        );
        return figures.length === 0 ? (
          <p class="empty">No history yet. The gateway samples once a minute.</p>
        ) : (
          <div class="stack">
            {figures.map(([name, { unit, values }]) => (
              <HistoryChart
                key={name}
                title={figureTitle(name)}
                values={values}
                startMs={startMs}
                intervalMs={intervalMs}
                unit={unit}
                text={(value) => figureText(value, unit)}
                limit={name === "used" || name === "free" ? size : undefined}
                marks={marks}
              />
            ))}
          </div>
        );
      }}
    </ReadState>
  );
}

function markOf(event: Event, title: string): readonly ChartMark[] {
  if (event.at === undefined) {
    return [];
  }
  const { kind } = eventSeverity(event);
  return [
    {
      atMs: timestampMs(event.at),
      kind: kind === "failed" || kind === "warn" ? kind : "change",
      text: eventTitle(event, title),
    },
  ];
}
