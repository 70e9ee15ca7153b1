import type { Backend } from "../../../gen/hostplane/v1/system_pb.ts";
import type { ClusterStats } from "../../../gen/resources/stats/stats_pb.ts";
import { useWatch } from "../../live/use-watch.ts";
import { Badge, type Tone } from "../../parts/badge.tsx";
import { ReadState } from "../../parts/read-state.tsx";
import { UsageBar } from "../../parts/usage-bar.tsx";
import { client } from "../../session.ts";
import { DomainCard } from "./domain-card.tsx";

/** Ceph's health status, its usage and its client traffic. */
export function StorageCard({ backends }: { readonly backends: readonly Backend[] }) {
  return (
    <DomainCard title="Ceph" path="/storage" domain="storage" backends={backends}>
      {() => <StorageFigures />}
    </DomainCard>
  );
}

const tones: Readonly<Record<string, Tone>> = { HEALTH_OK: "ok", HEALTH_WARN: "warn", HEALTH_ERR: "bad" };

function StorageFigures() {
  const watching = useWatch((options) => client.storage.watchClusterStats({}, options));
  return (
    <ReadState of={watching}>
      {({ stats, staleBecause }) => (
        <div class="stack">
          {staleBecause !== "" && <p class="note warn">Not up to date: {staleBecause}</p>}
          {stats === undefined ? <p class="quiet">No data available.</p> : <Facts stats={stats} />}
        </div>
      )}
    </ReadState>
  );
}

function Facts({ stats: { status, services, data, iops } }: { readonly stats: ClusterStats }) {
  const { osd } = services ?? {};
  return (
    <>
      <div class="row">
        <Badge tone={tones[status] ?? "off"}>{status || "health not known"}</Badge>
        <span>
          {osd === undefined ? "OSDs not known" : `${osd.osdUp} of ${osd.osdCount} OSDs up, ${osd.osdIn} in`}
        </span>
      </div>
      {data?.usage === undefined ? (
        <p class="quiet">Capacity not known.</p>
      ) : (
        <UsageBar label="Capacity" usedBytes={data.usage.used} totalBytes={data.usage.total} />
      )}
      {iops !== undefined && (
        <p class="quiet">
          Clients: {iops.clientRead}, {iops.clientWrite}
        </p>
      )}
    </>
  );
}
