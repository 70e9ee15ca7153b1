import type { WatchClusterStatsResponse } from "../../../gen/hostplane/v1/storage_pb.ts";
import { LineChart } from "../../charts/line-chart.tsx";
import type { Moment } from "../../charts/time-series.ts";
import { sizeText } from "../../parts/text/size-text.ts";
import { figureIndex, spanMs, trafficMoments, useNowMs } from "./traffic.ts";

const { readBytes, writeBytes, readOperations, writeOperations, usedBytes } = figureIndex;

/** Client reads and writes, and the cluster's usage, over the last minutes. */
export function TrafficCharts({ cluster }: { readonly cluster: WatchClusterStatsResponse }) {
  const moments = trafficMoments.value;
  const total = cluster.stats?.data?.usage?.total;
  // A message may have arrived after the clock was read.
  const at = { nowMs: Math.max(useNowMs(), moments.at(-1)?.atMs ?? 0), spanMs };
  return (
    <>
      <section class="card" aria-labelledby="throughput">
        <h2 id="throughput">Client throughput</h2>
        <LineChart
          {...at}
          title="Client throughput"
          titles={["Read", "Written"]}
          moments={only(moments, [readBytes, writeBytes])}
          text={(bytes) => `${sizeText(bytes)}/s`}
          unit="bytes"
        />
      </section>
      <section class="card" aria-labelledby="operations">
        <h2 id="operations">Client operations</h2>
        <LineChart
          {...at}
          title="Client operations"
          titles={["Reads", "Writes"]}
          moments={only(moments, [readOperations, writeOperations])}
          text={(count) => `${Number(count.toFixed(1))}/s`}
          unit="count"
        />
      </section>
      <section class="card" aria-labelledby="used">
        <h2 id="used">Raw space in use</h2>
        <LineChart
          {...at}
          title="Raw space in use"
          titles={["In use"]}
          moments={only(moments, [usedBytes])}
          text={sizeText}
          unit="bytes"
          max={total === undefined ? undefined : Number(total)}
        />
      </section>
    </>
  );
}

function only(moments: readonly Moment[], indexes: readonly number[]): readonly Moment[] {
  return moments.map(({ atMs, figures }) => ({ atMs, figures: indexes.map((index) => figures[index]) }));
}
