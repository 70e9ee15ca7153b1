import { type Resource, ResourceHealth } from "../../../gen/hostplane/v1/inventory_pb.ts";

/** How many resources of a sort are healthy. */
export interface HealthyCount {
  readonly name: string;
  readonly healthy: number;
  readonly total: number;
}

const sorts: readonly { readonly types: readonly string[]; readonly one: string; readonly many: string }[] = [
  { types: ["volume", "thinPool"], one: "volume", many: "volumes" },
  { types: ["osd"], one: "OSD", many: "OSDs" },
  { types: ["hypervisor"], one: "machine", many: "machines" },
  { types: ["cluster"], one: "cluster", many: "clusters" },
  { types: ["pod"], one: "pod", many: "pods" },
  { types: ["backup"], one: "backup", many: "backups" },
];

/** Counts the healthy resources of each sort that exists. */
export function healthyCounts(byType: ReadonlyMap<string, readonly Resource[]>): readonly HealthyCount[] {
  return sorts.flatMap(({ types, one, many }) => {
    const all = types.flatMap((type) => byType.get(type) ?? []);
    const healthy = all.filter(({ health }) => health === ResourceHealth.OK).length;
    return all.length === 0 ? [] : [{ name: all.length === 1 ? one : many, healthy, total: all.length }];
  });
}

/** "2,957 of 3,000 volumes"; only the number if all are healthy. */
export function healthyText({ name, healthy, total }: HealthyCount): string {
  const all = total.toLocaleString("en");
  return healthy === total ? `${all} ${name}` : `${healthy.toLocaleString("en")} of ${all} ${name}`;
}
