import { createLimiter } from "../host/limiter.ts";
import type { DrainProgress } from "./adapter.ts";
import type { ApiClient } from "./api-client.ts";
import { errorFromRefusal, quotedWords, type Refusal } from "./errors.ts";
import { parsePods, type WorkloadPod } from "./parse-reply.ts";
import { workloadReasons } from "./reasons.ts";

/** Result of an eviction: the pod is gone or terminating, or why it is not. */
type Outcome = "gone" | "leaving" | { readonly blockedBecause: string };

const evictionsAtOnce = 8;

/** Evicts pods from a node, and returns those that are still there. @throws InfraError as WorkloadCluster */
export async function drainNode(api: ApiClient, node: string, end: AbortSignal): Promise<DrainProgress> {
  const query = new URLSearchParams({ fieldSelector: `spec.nodeName=${node}` });
  const request = { method: "GET", path: `/api/v1/pods?${query}`, what: `list the pods of ${node}` } as const;
  const reply = await api.send(request, end);
  const pods = "value" in reply ? parsePods(reply.value).filter(({ hasToLeave }) => hasToLeave) : [];
  const { run } = createLimiter({
    what: "evictions",
    maxRunning: evictionsAtOnce,
    maxWaiting: pods.length,
  });
  const outcomes = await Promise.all(
    pods.map((pod) => run(async () => (pod.isLeaving ? "leaving" : evict(api, pod, end)))),
  );
  const results = pods.map((pod, index) => ({ pod: nameOf(pod), outcome: outcomes[index] ?? "leaving" }));
  return {
    remaining: results.flatMap(({ pod, outcome }) => (outcome === "gone" ? [] : pod)),
    blocked: results.flatMap(({ pod, outcome }) =>
      typeof outcome === "string" ? [] : { pod, why: outcome.blockedBecause },
    ),
  };
}

function nameOf({ namespace, name }: WorkloadPod): string {
  return `${namespace}/${name}`;
}

async function evict(api: ApiClient, pod: WorkloadPod, end: AbortSignal): Promise<Outcome> {
  const { namespace, name, uid } = pod;
  const what = `evict ${nameOf(pod)}`;
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}/eviction`;
  const body = {
    apiVersion: "policy/v1",
    kind: "Eviction",
    metadata: { name, namespace },
    // A pod of the same name may be on another node by now.
    deleteOptions: { preconditions: { uid } },
  };
  const request = { method: "POST", path, body, what } as const;
  const reply = await api.send(request, end, [400, 403, 404, 405, 409, 422, 429, 500]);
  return "value" in reply ? "leaving" : outcomeOf(reply.refusal, what);
}

/**
 * Interprets a refusal that concerns one pod, so that the others are not held up. An account that may list pods may
 * evict them, so a 403 comes from a webhook.
 * @throws InfraError WORKLOAD_UNAVAILABLE when it concerns the cluster
 */
function outcomeOf(refusal: Refusal, what: string): Outcome {
  const { status, words, causes } = refusal;
  const causeOf = (reason: string) => causes.find((cause) => cause.reason === reason);
  if (status === 404 || status === 409) {
    return "gone";
  }
  if (causeOf("NamespaceTerminating") !== undefined) {
    return "leaving";
  }
  const budget = causeOf("DisruptionBudget");
  const error = errorFromRefusal(refusal, { what, who: "Kubernetes" });
  if (budget === undefined && error.is(workloadReasons.WORKLOAD_UNAVAILABLE)) {
    throw error;
  }
  return { blockedBecause: quotedWords(budget === undefined ? error.message : `${words} ${budget.message}`) };
}
