import type {
  KubernetesDeployment,
  KubernetesState,
  RookObject,
  RookPool,
} from "../../../../adapters/kubernetes/adapter.ts";
import { ReliabilityScore } from "../../../../gen/resources/stats/stats_pb.ts";

const {
  RELIABILITY_UNKNOWN: unknown,
  RELIABILITY_NONE: none,
  RELIABILITY_DEGRADED: degraded,
  RELIABILITY_OK: ok,
} = ReliabilityScore;

export interface ReliabilityScores {
  ofRook(object: RookObject): ReliabilityScore;
  ofDeployment(deployment: KubernetesDeployment): ReliabilityScore;
}

/** Scores how well resources would survive the loss of a node, by the rules of docs/reference/domains/stats.md. */
export function createReliabilityScores(kubernetes: KubernetesState): ReliabilityScores {
  const deployments = "ok" in kubernetes.deployments ? kubernetes.deployments.ok : [];

  function ofService(service: string): ReliabilityScore {
    return reliabilityOfDaemons(deployments.filter((deployment) => deployment.service === service));
  }

  return {
    ofRook({ services, pools, desiredReplicas }) {
      // An object without replicas of its own has no daemons in Kubernetes.
      const ofServices = desiredReplicas ? services.map(ofService) : [];
      return worstOf([...ofServices, ...pools.map((pool) => reliabilityOfPool(pool, kubernetes))]);
    },
    ofDeployment(deployment) {
      const { service } = deployment;
      return service === undefined ? reliabilityOfDaemons([deployment]) : ofService(service);
    },
  };
}

/** Scores Deployments whose daemons can replace each other. */
function reliabilityOfDaemons(deployments: readonly KubernetesDeployment[]): ReliabilityScore {
  const desired = sumOf(deployments, ({ desiredReplicas }) => desiredReplicas);
  const ready = sumOf(deployments, ({ readyReplicas }) => readyReplicas);
  const load = new Map<string, number>();
  for (const { podNodes, readyReplicas } of deployments) {
    if (podNodes === undefined) {
      return unknown;
    }
    // Replicas beyond one per node may be on any of the nodes; assume the worst case.
    const most = 1 + Math.max(0, readyReplicas - podNodes.length);
    for (const node of podNodes) {
      load.set(node, (load.get(node) ?? 0) + most);
    }
  }
  if (desired === 0) {
    return unknown;
  }
  const isQuorum = deployments.some(({ service }) => service === "rook-ceph-mon");
  const needed = isQuorum ? Math.floor(desired / 2) + 1 : 1;
  if (ready - Math.max(1, ...load.values()) < needed) {
    return none;
  }
  return ready < desired ? degraded : ok;
}

function reliabilityOfPool(
  { size, redundancy, failureDomain }: RookPool,
  kubernetes: KubernetesState,
): ReliabilityScore {
  if (redundancy === 0) {
    return none;
  }
  if (failureDomain === "osd") {
    // A node may hold more than one copy of an object.
    return degraded;
  }
  const domains = countDomains(failureDomain, kubernetes);
  if (domains === undefined) {
    return unknown;
  }
  if (domains <= size - redundancy) {
    return none;
  }
  return domains < size || redundancy < 2 ? degraded : ok;
}

/** Counts the failure domains of this type that have ready OSDs; undefined if that cannot be determined. */
function countDomains(failureDomain: string, { storagePods, nodes }: KubernetesState): number | undefined {
  if ("missing" in storagePods) {
    return undefined;
  }
  const osds = storagePods.ok.filter(({ app, isReady }) => app === "rook-ceph-osd" && isReady);
  const names = new Set(osds.flatMap(({ node }) => node ?? []));
  if (failureDomain === "host") {
    return names.size;
  }
  if ("missing" in nodes) {
    return undefined;
  }
  const carriers = nodes.ok.filter(({ name }) => names.has(name));
  const domains = carriers.map(({ zone, rookTopology }) =>
    failureDomain === "zone" ? zone : rookTopology.get(failureDomain),
  );
  return domains.length === 0 || domains.includes(undefined) ? undefined : new Set(domains).size;
}

/** Returns the worst score, where NONE < UNKNOWN < DEGRADED < OK: a score is never better than the truth may be. */
function worstOf(scores: readonly ReliabilityScore[]): ReliabilityScore {
  return (
    [none, unknown, degraded].find((score) => scores.includes(score)) ?? (scores.length === 0 ? unknown : ok)
  );
}

function sumOf<T>(items: readonly T[], countOf: (item: T) => number): number {
  return items.reduce((sum, item) => sum + countOf(item), 0);
}
