import {
  badRequest,
  type FakeAnswer,
  type FakeRequest,
  jsonAnswer,
  mediaTypeMissing,
  methodMissing,
  notFound,
  objectFrom,
  statusAnswer,
} from "./answer.ts";
import type { FakeCluster } from "./cluster.ts";
import { renderConfig, renderProxy } from "./render.ts";

/** Answers requests about kubeadm's ConfigMap. */
export function answerConfig(cluster: FakeCluster, request: FakeRequest): FakeAnswer {
  const { config } = cluster;
  if (request.method === "GET") {
    return jsonAnswer(renderConfig(cluster));
  }
  if (request.method !== "PUT") {
    return methodMissing;
  }
  const object = objectFrom(request) as
    | {
        readonly kind?: string;
        readonly metadata?: { readonly name?: string; readonly resourceVersion?: string };
        readonly data?: Readonly<Record<string, string>>;
      }
    | undefined;
  if (object?.kind !== "ConfigMap" || object.metadata?.name !== "kubeadm-config") {
    return badRequest("the body is no ConfigMap of this name");
  }
  const { resourceVersion } = object.metadata;
  if (resourceVersion !== undefined && resourceVersion !== String(config.resourceVersion)) {
    const why = "the object has been modified; please apply your changes to the latest version and try again";
    const message = `Operation cannot be fulfilled on configmaps "kubeadm-config": ${why}`;
    return statusAnswer(409, "Conflict", message, { name: "kubeadm-config", kind: "configmaps" });
  }
  config.resourceVersion += 1;
  config.data = object.data ?? {};
  return jsonAnswer(renderConfig(cluster));
}

/** Answers requests about the DaemonSet of kube-proxy. */
export function answerProxy(cluster: FakeCluster, request: FakeRequest): FakeAnswer {
  const { proxy } = cluster;
  if (proxy === undefined) {
    return notFound("daemonsets", "kube-proxy", "apps");
  }
  if (request.method === "GET") {
    return jsonAnswer(renderProxy(proxy));
  }
  if (request.method !== "PATCH") {
    return methodMissing;
  }
  // Other patch types would require the whole list of containers.
  if (request.contentType !== "application/strategic-merge-patch+json") {
    return mediaTypeMissing;
  }
  const { spec } = (objectFrom(request) ?? {}) as {
    readonly spec?: {
      readonly updateStrategy?: { readonly type?: string };
      readonly template?: {
        readonly spec?: {
          readonly containers?: readonly { readonly name?: string; readonly image?: string }[];
        };
      };
    };
  };
  const container = spec?.template?.spec?.containers?.find(({ name }) => name === "kube-proxy");
  proxy.image = container?.image ?? proxy.image;
  proxy.updateStrategy = spec?.updateStrategy?.type ?? proxy.updateStrategy;
  return jsonAnswer(renderProxy(proxy));
}

/** Answers requests about ClusterRoleBindings; only their names are stored. */
export function answerBinding({ bindings }: FakeCluster, request: FakeRequest): FakeAnswer {
  if (request.method !== "POST") {
    return methodMissing;
  }
  const object = objectFrom(request) as
    | {
        readonly kind?: string;
        readonly metadata?: { readonly name?: string };
        readonly roleRef?: { readonly name?: string };
      }
    | undefined;
  const name = object?.metadata?.name;
  if (object?.kind !== "ClusterRoleBinding" || name === undefined || object.roleRef?.name === undefined) {
    return badRequest("the body is no ClusterRoleBinding with a name and a role");
  }
  if (bindings.has(name)) {
    const details = { name, group: "rbac.authorization.k8s.io", kind: "clusterrolebindings" };
    const message = `clusterrolebindings.rbac.authorization.k8s.io "${name}" already exists`;
    return statusAnswer(409, "AlreadyExists", message, details);
  }
  bindings.add(name);
  return jsonAnswer(object, 201);
}
