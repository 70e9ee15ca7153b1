import type { WatchClusterStatsResponse } from "../../../gen/hostplane/v1/storage_pb.ts";
import { TimeText } from "../../parts/text/time-text.tsx";
import { Fact } from "./fact.tsx";

/** The daemons of the cluster. */
export function Daemons({ cluster }: { readonly cluster: WatchClusterStatsResponse }) {
  const { mon, mgr, mds, osd, rgw } = cluster.stats?.services ?? {};
  return (
    <section class="card stack" aria-labelledby="daemons">
      <h2 id="daemons">Daemons</h2>
      <dl class="facts">
        <Fact name="Monitors">{mon && `${mon.daemonCount}, in quorum: ${mon.quorum || "none"}`}</Fact>
        <Fact name="Manager">
          {mgr && `${mgr.active || "none active"}, standby: ${mgr.standbys.join(", ") || "none"}`}
        </Fact>
        <Fact name="OSDs">{osd && `${osd.osdCount}: ${osd.osdUp} up, ${osd.osdIn} in`}</Fact>
        <Fact name="OSDs changed">
          {osd?.osdUpUpdatedAt === undefined ? osd && "never" : <TimeText at={osd.osdUpUpdatedAt} />}
        </Fact>
        <Fact name="MDS">{mds && `${mds.daemonsUp} with a rank, ${mds.hotStandbyCount} hot standby`}</Fact>
        <Fact name="RGW">{rgw && `${rgw.activeDaemon} on ${rgw.hostCount} hosts`}</Fact>
      </dl>
    </section>
  );
}
