import {
  badRequest,
  type FakeAnswer,
  type FakeRequest,
  jsonAnswer,
  mediaTypeMissing,
  methodMissing,
  notFound,
  objectFrom,
  pathMissing,
  statusAnswer,
  timedOut,
} from "./answer.ts";
import { type FakeCluster, isAlive } from "./cluster.ts";
import { answerBinding, answerConfig, answerProxy } from "./cluster-objects.ts";
import { listOf, renderNode, renderPod } from "./render.ts";
import { answerSecret } from "./secrets.ts";
import type { FakeTarget } from "./world.ts";

type Handler = (cluster: FakeCluster, request: FakeRequest, ...names: string[]) => FakeAnswer;

const routes: readonly (readonly [pattern: RegExp, handler: Handler])[] = [
  [/^\/api\/v1\/nodes$/, listNodes],
  [/^\/api\/v1\/nodes\/([^/]+)$/, answerNode],
  [/^\/api\/v1\/pods$/, listPods],
  [/^\/api\/v1\/namespaces\/([^/]+)\/pods\/([^/]+)\/eviction$/, evict],
  [/^\/api\/v1\/namespaces\/([^/]+)\/secrets(?:\/([^/]+))?$/, answerSecret],
  [/^\/api\/v1\/namespaces\/kube-system\/configmaps\/kubeadm-config$/, answerConfig],
  [/^\/apis\/apps\/v1\/namespaces\/kube-system\/daemonsets\/kube-proxy$/, answerProxy],
  [/^\/apis\/rbac\.authorization\.k8s\.io\/v1\/clusterrolebindings$/, answerBinding],
];

/** Answers a request to a machine's API server from a member of `system:masters`. */
export function answerApi({ cluster, boot }: FakeTarget, request: FakeRequest): FakeAnswer {
  const { method, path } = request;
  if (path === "/version" && method === "GET") {
    const [major, minor] = boot.version.split(".");
    return jsonAnswer({ major, minor, gitVersion: `v${boot.version}`, platform: "linux/amd64" });
  }
  const isEmptyPath = path.split("/").some((part, index) => index > 0 && part === "");
  const found = isEmptyPath ? undefined : routes.find(([pattern]) => pattern.test(path));
  if (found === undefined) {
    return pathMissing;
  }
  if (!cluster.hasQuorum()) {
    return timedOut;
  }
  const [pattern, handler] = found;
  const names = (pattern.exec(path) ?? []).slice(1).filter((name) => name !== undefined);
  return handler(cluster, request, ...names.map(decodeURIComponent));
}

function listNodes({ nodes }: FakeCluster, { method }: FakeRequest): FakeAnswer {
  return method === "GET" ? jsonAnswer(listOf("Node", [...nodes.values()].map(renderNode))) : methodMissing;
}

function answerNode(cluster: FakeCluster, request: FakeRequest, name = ""): FakeAnswer {
  const node = cluster.nodes.get(name);
  if (node === undefined) {
    return notFound("nodes", name);
  }
  const whole = () => jsonAnswer({ kind: "Node", apiVersion: "v1", ...renderNode(node) });
  switch (request.method) {
    case "GET":
      return whole();
    case "DELETE":
      cluster.nodes.delete(name);
      cluster.pods.removeNode(name);
      return jsonAnswer({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Success" });
    case "PATCH": {
      const isMerge = /^application\/(strategic-)?merge-patch\+json$/.test(request.contentType);
      const { spec } = objectFrom(request) ?? {};
      if (!isMerge || spec === null || typeof spec !== "object") {
        return isMerge ? badRequest("the patch is not understood") : mediaTypeMissing;
      }
      node.isUnschedulable = "unschedulable" in spec ? spec.unschedulable === true : node.isUnschedulable;
      return whole();
    }
    default:
      return methodMissing;
  }
}

function listPods({ pods }: FakeCluster, { method, query }: FakeRequest): FakeAnswer {
  if (method !== "GET") {
    return methodMissing;
  }
  const [, node] = /^spec\.nodeName=(.+)$/.exec(query.get("fieldSelector") ?? "") ?? [];
  return node === undefined
    ? badRequest("the fake lists the pods of one node at a time")
    : jsonAnswer(listOf("Pod", pods.on(node).map(renderPod)));
}

function evict(cluster: FakeCluster, request: FakeRequest, namespace = "", name = ""): FakeAnswer {
  const eviction = objectFrom(request);
  if (request.method !== "POST") {
    return methodMissing;
  }
  if (eviction?.kind !== "Eviction" || eviction.apiVersion !== "policy/v1") {
    return badRequest("the body is no Eviction of policy/v1");
  }
  const pod = cluster.pods.find(namespace, name);
  if (pod === undefined) {
    return notFound("pods", name);
  }
  const requested = eviction as {
    readonly metadata?: { readonly name?: string };
    readonly deleteOptions?: { readonly preconditions?: { readonly uid?: string } };
  };
  if (requested.metadata?.name !== name) {
    return badRequest("name in URL does not match name in Eviction object");
  }
  const isNodeAlive = isAlive(cluster.nodes.get(pod.node)?.boot);
  if (pod.budget !== undefined && pod.deletedAtMs === undefined && isNodeAlive) {
    const message = "Cannot evict pod as it would violate the pod's disruption budget.";
    return statusAnswer(429, "TooManyRequests", message, {
      causes: [{ reason: "DisruptionBudget", message: pod.budget }],
    });
  }
  const uid = requested.deleteOptions?.preconditions?.uid;
  if (uid !== undefined && uid !== pod.uid) {
    const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${pod.uid}`;
    const message = `Operation cannot be fulfilled on pods "${name}": ${why}`;
    return statusAnswer(409, "Conflict", message, { name, kind: "pods" });
  }
  cluster.pods.terminate(pod);
  return jsonAnswer({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 }, 201);
}
