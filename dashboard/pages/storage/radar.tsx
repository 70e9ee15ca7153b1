import type { Signal } from "@preact/signals";
import type { ClusterRadar } from "../../../gen/resources/stats/stats_pb.ts";
import { RadarChart, scoreText } from "../../charts/radar-chart.tsx";
import type { Reading } from "../../live/use-read.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { ReadState } from "../../parts/read-state.tsx";
import type { RadarReading } from "./radar-reading.ts";
import type { RadarField, RadarWords } from "./radar-words.ts";

interface Score {
  readonly field: RadarField;
  readonly axis: string;
  readonly meaning: string;
  readonly of: (radar: ClusterRadar) => number;
}

const scores: readonly Score[] = [
  {
    field: "cluster_health",
    axis: "Health",
    meaning: "100 minus the weight of each unmuted health check",
    of: ({ clusterHealth }) => clusterHealth,
  },
  {
    field: "nodes_health",
    axis: "Nodes",
    meaning: "The share of the storage nodes that are ready",
    of: ({ nodesHealth }) => nodesHealth,
  },
  {
    field: "capacity_available",
    axis: "Free space",
    meaning: "The share of the raw space that is free",
    of: ({ capacityAvailable }) => capacityAvailable,
  },
  {
    field: "stability",
    axis: "Stability",
    meaning:
      "Stability in the last hour: lowered by OSDs that went down, crashes, slow operations and recovery",
    of: ({ stability }) => stability,
  },
  {
    field: "reliability",
    axis: "Reliability",
    meaning: "Tolerance of failures: pools, monitors, managers, scrubs",
    of: ({ reliability }) => reliability,
  },
];

/** The five scores, each from 0 (worst) to 100. */
export function Radar({ of }: { readonly of: Signal<Reading<RadarReading>> }) {
  return (
    <section class="card radar" aria-labelledby="radar">
      <h2 id="radar">Radar</h2>
      <ReadState of={of}>
        {({ radar, because }) =>
          radar !== undefined && (
            <RadarChart
              title="Scores from 0 to 100"
              scores={scores.map(({ axis, of }) => ({ axis, value: of(radar) }))}
            >
              <DataTable
                caption="Scores from 0, the worst, to 100"
                columns={columnsOf(radar, because)}
                rows={scores}
                keyOf={({ field }) => field}
                empty=""
              />
            </RadarChart>
          )
        }
      </ReadState>
    </section>
  );
}

function columnsOf(radar: ClusterRadar, because: RadarWords): readonly Column<Score>[] {
  return [
    { title: "Score", cell: ({ axis }) => axis },
    { title: "Of 100", isNumber: true, cell: ({ of }) => scoreText(of(radar)) },
    { title: "Explanation", cell: ({ field }) => because[field] ?? "not known" },
    { title: "Meaning", cell: ({ meaning }) => meaning },
  ];
}
