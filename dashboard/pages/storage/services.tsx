import type { ComponentChildren } from "preact";
import type { WatchClusterStatsResponse } from "../../../gen/hostplane/v1/storage_pb.ts";
import { Panel } from "../../parts/panel.tsx";
import { TimeText } from "../../parts/text/time-text.tsx";

/** The daemons of the cluster by their service, in one line each. */
export function Services({ cluster }: { readonly cluster: WatchClusterStatsResponse }) {
  const { mon, mgr, mds, osd, rgw } = cluster.stats?.services ?? {};
  return (
    <Panel title="Services">
      <dl class="facts">
        <Fact name="Monitors">
          {mon &&
            `${mon.quorum === "" ? "none" : mon.quorum.split(",").length} of ${mon.daemonCount} in quorum`}
          {mon && mon.quorum !== "" && <span class="quiet"> {mon.quorum.replaceAll(",", ", ")}</span>}
        </Fact>
        <Fact name="Manager">
          {mgr && (mgr.active === "" ? "none active" : `${mgr.active} active`)}
          {mgr && <span class="quiet"> standby: {mgr.standbys.join(", ") || "none"}</span>}
        </Fact>
        <Fact name="OSDs">
          {osd && `${osd.osdUp} of ${osd.osdCount} up, ${osd.osdIn} in`}
          {osd?.osdUpUpdatedAt !== undefined && (
            <span class="quiet">
              {" "}
              changed <TimeText at={osd.osdUpUpdatedAt} />
            </span>
          )}
        </Fact>
        <Fact name="Metadata servers">
          {mds && `${mds.daemonsUp} with a rank, ${mds.hotStandbyCount} hot standby`}
        </Fact>
        <Fact name="Object gateways">
          {rgw &&
            `${rgw.activeDaemon} on ${counted(rgw.hostCount, "host")}, ${counted(rgw.zoneCount, "zone")}`}
        </Fact>
      </dl>
    </Panel>
  );
}

/** A named value; undefined is not known. */
function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  const isKnown = [children].flat().some((child) => child !== undefined && child !== false);
  return (
    <>
      <dt>{name}</dt>
      <dd>{isKnown ? children : "—"}</dd>
    </>
  );
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
