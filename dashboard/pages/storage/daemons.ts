import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import type { Services } from "../../../gen/resources/stats/stats_pb.ts";
import { healthStatus, type StatusKind } from "../../parts/status.tsx";
import { daemonsOf } from "./storage-kinds.tsx";

/** A daemon on a host. */
export interface Daemon {
  /** Such as "osd.0". */
  readonly name: string;
  readonly service: string;
  readonly host: Resource;
  /** In a word or two; undefined if Ceph does not report it. */
  readonly state: string | undefined;
  readonly status: StatusKind;
  /** The resource of an OSD. */
  readonly osd: Resource | undefined;
}

const serviceTitles: Readonly<Record<string, string>> = {
  mon: "monitor",
  mgr: "manager",
  mds: "metadata server",
  osd: "OSD",
  rgw: "object gateway",
};

/** Returns the daemons of all hosts with what is known of each. */
export function daemonsFrom(
  hosts: readonly Resource[],
  osds: readonly Resource[],
  services: Services | undefined,
): readonly Daemon[] {
  return hosts.flatMap((host) =>
    daemonsOf(host).map((name) => {
      const type = name.slice(0, Math.max(0, name.indexOf("."))) || name;
      const osd = osds.find(({ title }) => title === name);
      const known = osd === undefined ? serviceState(type, name.slice(type.length + 1), services) : undefined;
      return {
        name,
        service: serviceTitles[type] ?? type,
        host,
        osd,
        state: osd?.state ?? known?.state,
        status: osd === undefined ? (known?.status ?? "unknown") : healthStatus(osd.health),
      };
    }),
  );
}

/** Ceph reports the state of single monitors and managers; of the other services only counts. */
function serviceState(
  type: string,
  id: string,
  services: Services | undefined,
): { readonly state: string; readonly status: StatusKind } | undefined {
  if (type === "mon" && services?.mon !== undefined) {
    return services.mon.quorum.split(",").includes(id)
      ? { state: "in quorum", status: "ok" }
      : { state: "out of quorum", status: "failed" };
  }
  if (type === "mgr" && services?.mgr !== undefined) {
    const { active, standbys } = services.mgr;
    return id === active
      ? { state: "active", status: "ok" }
      : standbys.includes(id)
        ? { state: "standby", status: "ok" }
        : { state: "not running", status: "failed" };
  }
  return undefined;
}
