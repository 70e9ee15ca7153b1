import type { WatchClusterStatsResponse } from "../../../gen/hostplane/v1/storage_pb.ts";
import { recentEvents } from "../../live/event-stream.ts";
import { Badge, type Tone } from "../../parts/badge.tsx";
import { TimeText } from "../../parts/text/time-text.tsx";
import { parseComplaints } from "./radar-words.ts";

const states: Readonly<Record<string, { readonly tone: Tone; readonly text: string }>> = {
  HEALTH_OK: { tone: "ok", text: "Healthy" },
  HEALTH_WARN: { tone: "warn", text: "Warning" },
  HEALTH_ERR: { tone: "bad", text: "Error" },
};

/** Ceph's health status and its health checks. */
export function Health(props: {
  readonly cluster: WatchClusterStatsResponse;
  /** Explanation of the health score, from the radar; undefined until it is known. */
  readonly because: string | undefined;
}) {
  const { stats, readAt, staleBecause, missing } = props.cluster;
  const status = stats?.status ?? "";
  const { tone, text } = states[status] ?? { tone: "off", text: "Not known" };
  return (
    <section class="card stack" aria-labelledby="health">
      <h2 id="health">Health</h2>
      <div class="row">
        <Badge tone={tone}>{text}</Badge>
        <code>{status}</code>
      </div>
      <Complaints words={props.because} />
      {staleBecause !== "" && (
        <p class="note warn">
          As of <TimeText at={readAt} />: {staleBecause}
        </p>
      )}
      {missing.length > 0 && (
        <div class="note warn">
          <strong>Currently not known</strong>
          <ul>
            {missing.map(({ field, reason }) => (
              <li key={field}>
                <code>{field}</code>: {reason}
              </li>
            ))}
          </ul>
        </div>
      )}
      <p class="quiet">
        Cluster <code>{stats?.id}</code>
      </p>
    </section>
  );
}

function Complaints({ words }: { readonly words: string | undefined }) {
  if (words === undefined) {
    return <p class="quiet">Health checks not known.</p>;
  }
  const complaints = parseComplaints(words);
  if (complaints.length === 0) {
    return <p>No active health checks.</p>;
  }
  return (
    <ul>
      {complaints.map(({ what, points }) => (
        <li key={what}>
          <code>{what}</code>
          {sentenceOf(what)}
          {points !== undefined && <span class="quiet"> −{points} of the score</span>}
        </li>
      ))}
    </ul>
  );
}

/** Ceph's message when the check was raised, if that was while the page was open. */
function sentenceOf(code: string): string {
  for (const { detail } of recentEvents.value) {
    const raised = detail.case === "clusterHealth" ? detail.value.raised : [];
    const found = raised.find((each) => each.startsWith(`${code}: `));
    if (found !== undefined) {
      return found.slice(code.length);
    }
  }
  return "";
}
