import type { CephHealthCheck, WatchClusterStatsResponse } from "../../../gen/hostplane/v1/storage_pb.ts";
import { Note } from "../../parts/note.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Status, type StatusKind } from "../../parts/status.tsx";
import { TimeText } from "../../parts/text/time-text.tsx";
import { compareChecks } from "./compare-checks.ts";

/** Ceph's health: its checks with their severity, the worst first; one line while none is raised. */
export function Health({ cluster }: { readonly cluster: WatchClusterStatsResponse }) {
  const { stats, readAt, staleBecause, missing, healthChecks } = cluster;
  return (
    <>
      {staleBecause !== "" && (
        <Note tone="warn" role="status">
          <strong>
            As of <TimeText at={readAt} />
          </strong>
          <div>{staleBecause}</div>
        </Note>
      )}
      {missing.length > 0 && (
        <Note tone="warn" role="status">
          <strong>Currently not known</strong>
          <ul>
            {missing.map(({ field, reason }) => (
              <li key={field}>
                <code>{field}</code>: {reason}
              </li>
            ))}
          </ul>
        </Note>
      )}
      {healthChecks.length === 0 ? (
        <div class="healthy" role="status">
          <Status kind={stats?.status === "HEALTH_OK" ? "ok" : "unknown"} />
          <strong>{healthText(stats?.status)}</strong> No health check is raised.
        </div>
      ) : (
        <Panel title="Health" note={healthText(stats?.status)} isFlush>
          <ul class="lines wrap">
            {healthChecks.toSorted(compareChecks).map((check) => (
              <Check key={check.code} check={check} />
            ))}
          </ul>
        </Panel>
      )}
    </>
  );
}

function Check({ check }: { readonly check: CephHealthCheck }) {
  const { code, summary, muted } = check;
  const { kind, word } = severityOf(check);
  return (
    <li>
      <Status kind={kind} text={word} />
      <span class="grow">{summary}</span>
      <span class="quiet">
        {word}
        {muted && ", muted"}
      </span>
      <code class="quiet">{code}</code>
    </li>
  );
}

function severityOf({ severity, muted }: CephHealthCheck): {
  readonly kind: StatusKind;
  readonly word: string;
} {
  const isError = severity === "HEALTH_ERR";
  return { kind: muted ? "off" : isError ? "failed" : "warn", word: isError ? "error" : "warning" };
}

function healthText(status: string | undefined): string {
  switch (status) {
    case "HEALTH_OK":
      return "Healthy";
    case "HEALTH_WARN":
      return "Warning";
    case "HEALTH_ERR":
      return "Error";
    default:
      return "Health not known";
  }
}
