import type { Signal } from "@preact/signals";
import type { ClusterRadar } from "../../../gen/resources/stats/stats_pb.ts";
import { nowMs } from "../../live/now.ts";
import type { Reading } from "../../live/use-read.ts";
import { Panel } from "../../parts/panel.tsx";
import { ReadState } from "../../parts/read-state.tsx";
import { withLocalTimes } from "../../parts/text/with-local-times.ts";
import type { RadarReading } from "./radar-reading.ts";
import type { RadarField } from "./radar-words.ts";
import { scoreSentence } from "./score-sentence.ts";

interface Score {
  readonly field: RadarField;
  readonly title: string;
  readonly meaning: string;
  readonly of: (radar: ClusterRadar) => number;
}

const scores: readonly Score[] = [
  {
    field: "cluster_health",
    title: "Health",
    meaning: "100 minus the weight of each unmuted health check",
    of: ({ clusterHealth }) => clusterHealth,
  },
  {
    field: "nodes_health",
    title: "Nodes",
    meaning: "The share of the storage nodes that are ready",
    of: ({ nodesHealth }) => nodesHealth,
  },
  {
    field: "capacity_available",
    title: "Free space",
    meaning: "The share of the raw space that is free",
    of: ({ capacityAvailable }) => capacityAvailable,
  },
  {
    field: "stability",
    title: "Stability",
    meaning:
      "Stability in the last hour: lowered by OSDs that went down, crashes, slow operations and recovery",
    of: ({ stability }) => stability,
  },
  {
    field: "reliability",
    title: "Reliability",
    meaning: "Tolerance of failures: pools, monitors, managers, scrubs",
    of: ({ reliability }) => reliability,
  },
];

/** The five scores of GetClusterRadar, each from 0, the worst, to 100, with their explanation. */
export function Scores({ of }: { readonly of: Signal<Reading<RadarReading>> }) {
  return (
    <Panel title="Scores" note="from 0, the worst, to 100" isFlush>
      <ReadState of={of}>
        {({ radar, because }) =>
          radar !== undefined && (
            <ul class="lines">
              {scores.map((score) => (
                <li key={score.field}>
                  <span class="score-name" title={score.meaning}>
                    {score.title}
                  </span>
                  <Bar title={score.title} value={score.of(radar)} />
                  <Reason text={because[score.field]} />
                </li>
              ))}
            </ul>
          )
        }
      </ReadState>
    </Panel>
  );
}

function Reason({ text }: { readonly text: string | undefined }) {
  const shown = text === undefined ? "—" : withLocalTimes(scoreSentence(text), new Date(nowMs.value));
  return (
    <span class="quiet grow keep" title={shown}>
      {shown}
    </span>
  );
}

/** Below these a score is a problem, or a warning. */
const lowScore = 50;
const fairScore = 80;

function Bar({ title, value }: { readonly title: string; readonly value: number }) {
  const kind = value < lowScore ? "failed" : value < fairScore ? "warn" : "ok";
  const text = scoreText(value);
  return (
    <span class="usage">
      <svg class={`meter ${kind}`} width="64" height="6" role="img" aria-label={`${title} ${text} of 100`}>
        <rect width="64" height="6" rx="3" />
        <rect width={(Math.max(0, Math.min(100, value)) / 100) * 64} height="6" rx="3" />
      </svg>
      <span class="score">{text}</span>
    </span>
  );
}

/** Formats a score with at most one decimal, such as "86.7". */
function scoreText(value: number): string {
  return String(Number(value.toFixed(1)));
}
