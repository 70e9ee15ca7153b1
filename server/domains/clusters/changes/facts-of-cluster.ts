import type { PlanFact } from "../../../operations/mutation.ts";
import { factsOf } from "../../../operations/plan-facts.ts";
import { clusterResource } from "../specs/cluster-resource.ts";
import type { ChangedCluster } from "../specs/cluster-specs.ts";

/** Returns what a change of an existing cluster follows from. Every change of its spec has a new generation. */
export function factsOfCluster({ name, uid, generation }: ChangedCluster): PlanFact[] {
  return factsOf(clusterResource(name), { uid, generation });
}
