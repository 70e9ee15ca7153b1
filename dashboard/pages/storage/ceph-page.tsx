import type { WatchClusterStatsResponse } from "../../../gen/hostplane/v1/storage_pb.ts";
import { resourcesOf } from "../../live/inventory.ts";
import { useWatch } from "../../live/use-watch.ts";
import { DomainNotice } from "../../parts/domain-notice.tsx";
import { Tiles } from "../../parts/figure/tiles.tsx";
import { isOff } from "../../parts/is-off.ts";
import { ReadState } from "../../parts/read-state.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { client } from "../../session.ts";
import { Page } from "../../shell/page.tsx";
import { capacityTiles } from "./capacity-tiles.tsx";
import { CrashTable } from "./crash-table.tsx";
import { DaemonTable } from "./daemon-table.tsx";
import { Health } from "./health.tsx";
import { HostTable } from "./host-table.tsx";
import { KubernetesTables } from "./kubernetes-tables.tsx";
import { OsdTable } from "./osd-table.tsx";
import { PoolTable } from "./pool-table.tsx";
import { useRadar } from "./radar-reading.ts";
import { Scores } from "./scores.tsx";
import { Services } from "./services.tsx";
import { pauseTraffic, takeTraffic } from "./traffic.ts";
import { TrafficCharts } from "./traffic-charts.tsx";

/** The Ceph cluster: its health, space, traffic and parts. */
export function CephPage() {
  const watching = useWatch((options) => client.storage.watchClusterStats({}, options), {
    onMessage: takeTraffic,
    onSilence: pauseTraffic,
  });
  const cluster = watching.value.value;
  const radar = useRadar(cluster);
  return (
    <Page title="Ceph" note={cluster?.stats?.id}>
      <DomainNotice domain="storage" />
      {!isOff(watching.value) && (
        <ReadState of={watching}>
          {(message) => (
            <>
              <Health cluster={message} />
              <Tiles of={capacityTiles(message)} />
              <TrafficCharts cluster={message} />
              <div class="halves">
                <Services cluster={message} />
                <Scores of={radar} />
              </div>
            </>
          )}
        </ReadState>
      )}
      <Parts cluster={cluster} />
    </Page>
  );
}

function Parts({ cluster }: { readonly cluster: WatchClusterStatsResponse | undefined }) {
  const countOf = (type: string) => resourcesOf(type).length;
  const tabs = [
    { id: "", title: "OSDs", count: countOf("osd"), body: () => <OsdTable /> },
    { id: "hosts", title: "Hosts", count: countOf("cephHost"), body: () => <HostTable /> },
    { id: "pools", title: "Pools", count: countOf("cephPool"), body: () => <PoolTable /> },
    { id: "daemons", title: "Daemons", body: () => <DaemonTable services={cluster?.stats?.services} /> },
    { id: "crashes", title: "Crashes", count: cluster?.stats?.crashes.length, body: () => <CrashTable /> },
    { id: "kubernetes", title: "Kubernetes", body: () => <KubernetesTables /> },
  ];
  return (
    <Tabs label="Parts of the cluster" of={tabs}>
      {({ body }) => body()}
    </Tabs>
  );
}
