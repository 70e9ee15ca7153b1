import { timestampMs } from "@bufbuild/protobuf/wkt";
import { recentEvents } from "../../live/event-stream.ts";
import type { HistoryReading, Series } from "../../live/history-reading.ts";
import { resourcesOf } from "../../live/inventory.ts";
import { useHistory } from "../../live/use-history.ts";
import { ErrorNote } from "../../parts/error-note.tsx";
import { eventSeverity } from "../../parts/event/event-severity.ts";
import { DayChart } from "../../parts/figure/day-chart.tsx";
import { Panel } from "../../parts/panel.tsx";
import { figureText } from "../../parts/text/figure-text.ts";

/** A chart of the overview. */
interface Shown {
  readonly title: string;
  readonly subject: string;
  /** Figures that are added, such as reads and writes. */
  readonly figures: readonly string[];
  /** Topic of the events that are marked on it. */
  readonly topic?: string;
}

/** A chart is some 200 px wide. */
const points = 96;

/** The figures of the systems over the last 24 hours, with marks for problems. */
export function LastDay() {
  const shown = chartsOf(resourcesOf("cephCluster")[0]?.name);
  const { value, error } = useHistory([...new Set(shown.map(({ subject }) => subject))], points).value;
  const charts = shown.flatMap((chart) => {
    const series = value === undefined ? undefined : sumOf(value, chart);
    return series === undefined ? [] : [{ ...chart, series }];
  });
  if (error === undefined && charts.length === 0) {
    return null;
  }
  return (
    <Panel title="Last 24 hours" isFlush>
      {error !== undefined && <ErrorNote error={error} />}
      <div class="day-charts">
        {value !== undefined &&
          charts.map(({ title, series, topic }) => (
            <DayChart
              key={title}
              title={title}
              values={series.values}
              startMs={value.startMs}
              intervalMs={value.intervalMs}
              text={(figure) => figureText(figure, series.unit)}
              marks={problemsOf(topic)}
            />
          ))}
      </div>
    </Panel>
  );
}

/** @param ceph the resource of the Ceph cluster, if there is one */
function chartsOf(ceph: string | undefined): readonly Shown[] {
  return [
    ...(ceph === undefined
      ? []
      : [
          {
            title: "Ceph client traffic",
            subject: ceph,
            figures: ["client_read", "client_write"],
            topic: "storage",
          },
          { title: "Ceph recovery", subject: ceph, figures: ["recovery"], topic: "storage" },
        ]),
    { title: "Machines running", subject: "hypervisors", figures: ["running"], topic: "hypervisors" },
    { title: "Pods running", subject: "pods", figures: ["running"], topic: "pods" },
    { title: "Gateway calls", subject: "gateway", figures: ["calls"] },
  ];
}

/** Returns the sum of a chart's figures, unknown where one of them is; undefined if there is no value at all. */
function sumOf({ subjects }: HistoryReading, { subject, figures }: Shown): Series | undefined {
  const all = figures.flatMap((name) => subjects.get(subject)?.figures.get(name) ?? []);
  const [first] = all;
  if (first === undefined || all.length < figures.length) {
    return undefined;
  }
  const values = first.values.map((_, index) =>
    all.reduce<number | undefined>((sum, { values: own }) => {
      const value = own[index];
      return sum === undefined || value === undefined ? undefined : sum + value;
    }, 0),
  );
  return values.some((value) => value !== undefined) ? { unit: first.unit, values } : undefined;
}

/** When problems of a topic happened; the page has the events of the last hour. */
function problemsOf(topic: string | undefined): readonly number[] {
  return recentEvents.value
    .filter((event) => event.topic === topic && eventSeverity(event).kind === "failed")
    .flatMap(({ at }) => (at === undefined ? [] : [timestampMs(at)]));
}
