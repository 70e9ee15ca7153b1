import type { PlannedMutation } from "../../../operations/mutation.ts";
import { factsOf } from "../../../operations/plan-facts.ts";
import type { AdoptedSlot } from "../store/strays.ts";
import { resourceOf } from "./read-machines.ts";
import type { StrayFacts } from "./stray-calls.ts";

/** Plans AdoptStray. */
export function planOfAdoption(
  backend: string,
  { systemId, cluster, pool }: AdoptedSlot,
  isRenamed: boolean,
): PlannedMutation {
  const where = pool === undefined ? "the control plane" : `node pool ${pool}`;
  const mark = { name: "mark", command: ["POST", `machines/${systemId}/?op=set_workload_annotations`] };
  return {
    kind: "clusters.adoptStray",
    resource: resourceOf(systemId),
    backend,
    plan: {
      changes: [`machine ${systemId} is added to ${where} of cluster ${cluster}`],
      losses: [],
      facts: factsOf(resourceOf(systemId), { cluster, pool: pool ?? "" }),
    },
    steps: [...(isRenamed ? [mark] : []), { name: "adopt", command: [] }],
    pointOfNoReturn: 0,
  };
}

/** Plans ReleaseStray. */
export function planOfRelease(
  backend: string,
  { systemId, hostname, maasStatus }: StrayFacts,
): PlannedMutation {
  return {
    kind: "clusters.releaseStray",
    resource: resourceOf(systemId),
    backend,
    plan: {
      changes: [`machine ${systemId} (${hostname}, ${maasStatus}) is released to MAAS`],
      losses: [`all data on the disks of machine ${systemId}`],
      facts: factsOf(resourceOf(systemId), { hostname, status: maasStatus }),
    },
    steps: [{ name: "release", command: ["POST", `machines/${systemId}/?op=release`] }],
    pointOfNoReturn: 0,
  };
}
