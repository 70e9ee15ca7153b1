import { useWatch } from "../../live/use-watch.ts";
import { DomainNotice } from "../../parts/domain-notice.tsx";
import { isOff } from "../../parts/is-off.ts";
import { ReadState } from "../../parts/read-state.tsx";
import { client } from "../../session.ts";
import { Capacity } from "./capacity.tsx";
import { CrashTable } from "./crash-table.tsx";
import { Daemons } from "./daemons.tsx";
import { Health } from "./health.tsx";
import { NodeTable } from "./node-table.tsx";
import { OsdTable } from "./osd-table.tsx";
import { PoolTable } from "./pool-table.tsx";
import { Radar } from "./radar.tsx";
import { useRadar } from "./radar-reading.ts";
import { ResourceTables } from "./resource-tables.tsx";
import { pauseTraffic, takeTraffic } from "./traffic.ts";
import { TrafficCharts } from "./traffic-charts.tsx";
import "./storage.css";

/** A Ceph cluster, and the Kubernetes cluster it runs on. */
export function Storage() {
  const watching = useWatch((options) => client.storage.watchClusterStats({}, options), {
    onMessage: takeTraffic,
    onSilence: pauseTraffic,
  });
  const radar = useRadar(watching.value.value);
  return (
    <>
      <h1>Ceph</h1>
      <DomainNotice domain="storage" />
      {!isOff(watching.value) && (
        <ReadState of={watching}>
          {(cluster) => (
            <>
              <div class="cards at-a-glance">
                <Health cluster={cluster} because={radar.value.value?.because.cluster_health} />
                <Capacity cluster={cluster} />
                <Daemons cluster={cluster} />
              </div>
              <Radar of={radar} />
              <div class="charts">
                <TrafficCharts cluster={cluster} />
              </div>
            </>
          )}
        </ReadState>
      )}
      <OsdTable />
      <PoolTable />
      <CrashTable />
      <NodeTable />
      <ResourceTables />
    </>
  );
}
