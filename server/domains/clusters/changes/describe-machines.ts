import type { PoolRecord } from "../store/records.ts";

/** Describes a number of machines, e.g. `3 standard machines`. */
export function describeMachines({
  count,
  instanceType,
}: Pick<PoolRecord, "count" | "instanceType">): string {
  return count === 1 ? `1 ${instanceType} machine` : `${count} ${instanceType} machines`;
}

/** Describes a node pool after a change. @param version of Kubernetes */
export function describePool(pool: PoolRecord, version: string): string {
  return `the node pool ${pool.name} will have ${describeMachines(pool)} with Kubernetes ${version}`;
}

/** Describes what is lost with machines of a node pool. */
export function describePoolLoss(pool: string, count: number): string {
  return `all data on the disks of ${count} ${count === 1 ? "machine" : "machines"} of the node pool ${pool}`;
}
