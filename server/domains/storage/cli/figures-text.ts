import {
  type ClusterRadar,
  type ClusterStats,
  type KoorCluster,
  UpgradeMode,
} from "../../../../gen/resources/stats/stats_pb.ts";
import { printableLine } from "../../../cli/table/printable-line.ts";
import { sizeText } from "../../../cli/table/size-text.ts";

/**
 * Formats one row per figure, without those that could not be read.
 * @param missing fields from the header `hostplane-missing`: an unset number looks like 0
 */
export function statsRows(
  { id, status, crashes, services, data, iops }: ClusterStats,
  missing: readonly string[],
): string[][] {
  const { mon, mgr, mds, osd, rgw } = services ?? {};
  const { volumes, pools, objects, usage } = data ?? {};
  return [
    ["cluster", id],
    ["health", status],
    ...crashes.map(({ description }) => ["crash", description]),
    ...row(mon, "monitors", (one) => `${one.daemonCount}, in quorum ${one.quorum}`),
    ...row(mgr, "managers", (one) => [one.active || "none active", ...one.standbys].join(", standby ")),
    ...row(mds, "mds", (one) => `${one.daemonsUp} up, ${one.hotStandbyCount} hot standbys`),
    ...row(osd, "osds", (one) => `${one.osdCount}, ${one.osdUp} up, ${one.osdIn} in`),
    ...row(rgw, "rgws", (one) => `${one.activeDaemon} on ${one.hostCount} hosts, ${one.zoneCount} zones`),
    ...row(missing.includes("data.volumes") ? undefined : volumes, "volumes", String),
    ...row(pools, "pools", (one) =>
      [String(one.pools), ...(one.pgs === undefined ? [] : [`${one.pgs.activeClean} PGs active+clean`])].join(
        ", ",
      ),
    ),
    ...row(objects, "objects", (one) => `${one.objectCount}, ${one.size}`),
    ...row(
      usage,
      "space",
      (one) => `${sizeText(one.used)} used, ${sizeText(one.available)} free of ${sizeText(one.total)}`,
    ),
    ...row(iops, "clients", (one) =>
      [one.clientRead, one.clientWrite, one.clientReadOps, one.clientWriteOps].join(", "),
    ),
  ];
}

function row<T>(value: T | undefined, name: string, text: (value: T) => string): string[][] {
  return value === undefined ? [] : [[name, text(value)]];
}

/** Formats the figures that change most in one line. */
export function statsSummary({ status, services, data, iops }: ClusterStats, staleBecause: string): string {
  const { osd } = services ?? {};
  const parts = [
    ...(osd === undefined ? [] : [`${osd.osdUp} of ${osd.osdCount} OSDs up`]),
    ...(data?.usage === undefined
      ? []
      : [`${sizeText(data.usage.used)} of ${sizeText(data.usage.total)} used`]),
    ...(iops === undefined ? [] : [`${iops.clientRead}, ${iops.clientWrite}`]),
    ...(staleBecause === "" ? [] : [`not current: ${staleBecause}`]),
  ];
  return printableLine(`${status}: ${parts.join("; ")}`);
}

/**
 * Formats one row per score.
 * @param because explanation of each score, from the header `hostplane-radar`: `cluster_health: explanation; ...`
 */
export function radarRows(radar: ClusterRadar, because: string): string[][] {
  const words = new Map(
    because.split("; ").map((part) => {
      const [field = "", ...rest] = part.split(": ");
      return [field, rest.join(": ")];
    }),
  );
  const scores: readonly (readonly [string, number])[] = [
    ["cluster_health", radar.clusterHealth],
    ["nodes_health", radar.nodesHealth],
    ["capacity_available", radar.capacityAvailable],
    ["stability", radar.stability],
    ["reliability", radar.reliability],
  ];
  return scores.map(([field, score]) => [
    field.replaceAll("_", " "),
    String(Number(score.toFixed(1))),
    words.get(field) ?? "",
  ]);
}

const modes: Readonly<Record<UpgradeMode, string>> = {
  [UpgradeMode.UNSPECIFIED]: "unknown",
  [UpgradeMode.DISABLED]: "off",
  [UpgradeMode.NOTIFY]: "notify",
  [UpgradeMode.UPGRADE]: "automatic",
};

/** Formats a row for each field of a KoorCluster's spec, and for each of its status. */
export function koorFacts({ name, namespace, spec, status }: KoorCluster): string[][] {
  const { totalResources: total, currentVersions: current, latestVersions: latest } = status ?? {};
  const products = [
    ["kubernetes", current?.kube, undefined],
    ["koor operator", current?.koorOperator, latest?.koorOperator?.version],
    ["ksd", current?.ksd, latest?.ksd?.version],
    ["ceph", current?.ceph, latest?.ceph?.version],
  ] as const;
  return [
    ["cluster", `${namespace}/${name}`],
    ["all devices", yesOrNo(spec?.useAllDevices)],
    ["monitoring", yesOrNo(spec?.monitoringEnabled)],
    ["dashboard", yesOrNo(spec?.dashboardEnabled)],
    ["toolbox", yesOrNo(spec?.toolboxEnabled)],
    ["upgrades", modes[spec?.upgradeOptions?.mode ?? UpgradeMode.UNSPECIFIED] ?? "unknown"],
    ...(total === undefined
      ? []
      : [["nodes", `${total.nodes}, ${total.cpu} cores, ${total.memory} memory, ${total.storage} storage`]]),
    ...(status === undefined ? [] : [["enough resources", yesOrNo(status.meetsMinimumResources)]]),
    ...products.flatMap(([product, now, newest]) =>
      now === undefined ? [] : [[product, newest === undefined ? now : `${now}, newest ${newest}`]],
    ),
  ];
}

function yesOrNo(isSo: boolean | undefined): string {
  return isSo === true ? "yes" : "no";
}
