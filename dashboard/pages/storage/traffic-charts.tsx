import { useSignal } from "@preact/signals";
import type { WatchClusterStatsResponse } from "../../../gen/hostplane/v1/storage_pb.ts";
import { LineChart } from "../../charts/line-chart.tsx";
import type { Moment } from "../../charts/time-series.ts";
import { Panel } from "../../parts/panel.tsx";
import { sizeText } from "../../parts/text/size-text.ts";
import { figureIndex, spanMs, trafficMoments, useNowMs } from "./traffic.ts";

const { readBytes, writeBytes, readOperations, writeOperations, recoveryBytes, usedBytes } = figureIndex;

/** Client traffic, recovery and the cluster's usage since the page was opened, over the last minutes. */
export function TrafficCharts({ cluster }: { readonly cluster: WatchClusterStatsResponse }) {
  const moments = trafficMoments.value;
  const total = cluster.stats?.data?.usage?.total;
  const cursor = useSignal<number | undefined>(undefined);
  // A message may have arrived after the clock was read.
  const at = { nowMs: Math.max(useNowMs(), moments.at(-1)?.atMs ?? 0), spanMs, cursor };
  const rate = (bytes: number) => `${sizeText(bytes)}/s`;
  return (
    <Panel title="Traffic" note={`last ${spanMs / 60_000} minutes`}>
      <div class="charts">
        <LineChart
          {...at}
          title="Client throughput"
          titles={["read", "written"]}
          moments={only(moments, [readBytes, writeBytes])}
          text={rate}
          unit="bytes"
        />
        <LineChart
          {...at}
          title="Client operations"
          titles={["reads", "writes"]}
          moments={only(moments, [readOperations, writeOperations])}
          text={(count) => `${Number(count.toFixed(1))}/s`}
          unit="count"
        />
        <LineChart
          {...at}
          title="Recovery"
          titles={["recovered"]}
          moments={only(moments, [recoveryBytes])}
          text={rate}
          unit="bytes"
        />
        <LineChart
          {...at}
          title="Raw space"
          titles={["used"]}
          moments={only(moments, [usedBytes])}
          text={sizeText}
          unit="bytes"
          max={total === undefined ? undefined : Number(total)}
        />
      </div>
    </Panel>
  );
}

/** Returns the moments with only these figures. */
function only(moments: readonly Moment[], indexes: readonly number[]): readonly Moment[] {
  return moments.map(({ atMs, figures }) => ({ atMs, figures: indexes.map((index) => figures[index]) }));
}
