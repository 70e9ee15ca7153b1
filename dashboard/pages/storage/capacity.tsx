import type { WatchClusterStatsResponse } from "../../../gen/hostplane/v1/storage_pb.ts";
import { sizeText } from "../../parts/text/size-text.ts";
import { UsageBar } from "../../parts/usage-bar.tsx";
import { Fact } from "./fact.tsx";
import { isMissing } from "./missing.ts";

/** The cluster's usage, by kind of data. */
export function Capacity({ cluster }: { readonly cluster: WatchClusterStatsResponse }) {
  const data = cluster.stats?.data;
  const usage = data?.usage;
  return (
    <section class="card stack" aria-labelledby="capacity">
      <h2 id="capacity">Capacity</h2>
      {usage === undefined ? (
        <p>Usage not known.</p>
      ) : (
        <UsageBar label="Raw space" usedBytes={usage.used} totalBytes={usage.total} />
      )}
      <dl class="facts">
        <Fact name="Free">{usage && sizeText(usage.available)}</Fact>
        <Fact name="Stored">{data?.objects?.size}</Fact>
        <Fact name="Objects">{data?.objects?.objectCount.toLocaleString()}</Fact>
        <Fact name="Volumes">
          {isMissing(cluster, "data.volumes") ? undefined : data?.volumes.toLocaleString()}
        </Fact>
        <Fact name="Pools">{data?.pools?.pools}</Fact>
        <Fact name="PGs active+clean">{data?.pools?.pgs?.activeClean}</Fact>
      </dl>
    </section>
  );
}
