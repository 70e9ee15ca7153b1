import { type KoorCluster, UpgradeMode } from "../../gen/resources/stats/stats_pb.ts";
import { printableLine } from "../cli/table/printable-line.ts";
import { textTable } from "../cli/table/text-table.ts";

const modes: Readonly<Record<UpgradeMode, string>> = {
  [UpgradeMode.UNSPECIFIED]: "unknown",
  [UpgradeMode.DISABLED]: "off",
  [UpgradeMode.NOTIFY]: "notify",
  [UpgradeMode.UPGRADE]: "automatic",
};

/** Formats a KoorCluster: a row for each field of its spec, and for each field of its status. */
export function koorLines({ name, namespace, spec, status }: KoorCluster): string[] {
  const { totalResources: total, currentVersions: current, latestVersions: latest } = status ?? {};
  const products = [
    ["kubernetes", current?.kube, undefined],
    ["koor operator", current?.koorOperator, latest?.koorOperator?.version],
    ["ksd", current?.ksd, latest?.ksd?.version],
    ["ceph", current?.ceph, latest?.ceph?.version],
  ] as const;
  const rows = [
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
  return textTable(
    ["KOOR", "VALUE"],
    rows.map((cells) => cells.map(printableLine)),
  );
}

function yesOrNo(isSo: boolean | undefined): string {
  return isSo === true ? "yes" : "no";
}
