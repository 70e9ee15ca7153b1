import { parseDocument } from "yaml";
import { InfraError } from "../host/infra-error.ts";
import type { ApiClient } from "./api-client.ts";
import { parseConfigMap, parseContainers } from "./parse-reply.ts";
import { workloadReasons } from "./reasons.ts";

const configPath = "/api/v1/namespaces/kube-system/configmaps/kubeadm-config";
const proxyPath = "/apis/apps/v1/namespaces/kube-system/daemonsets/kube-proxy";
const maxTries = 5;

/**
 * Writes the version to the cluster's kubeadm configuration.
 * @throws InfraError as WorkloadCluster
 */
export async function setKubeadmVersion(api: ApiClient, version: string, end: AbortSignal): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const what = "read kubeadm-config";
    const found = await api.send({ method: "GET", path: configPath, what }, end);
    const { data, resourceVersion } = parseConfigMap("value" in found ? found.value : undefined);
    const configuration = withVersion(data.ClusterConfiguration ?? "", `v${version}`);
    if (configuration === data.ClusterConfiguration) {
      return;
    }
    const body = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "kubeadm-config", namespace: "kube-system", resourceVersion },
      data: { ...data, ClusterConfiguration: configuration },
    };
    const request = { method: "PUT", path: configPath, body, what: "write kubeadm-config" } as const;
    // Another client has written it in between.
    const reply = await api.send(request, end, tries < maxTries ? [409] : []);
    if ("value" in reply) {
      return;
    }
  }
}

/** @throws InfraError WORKLOAD_FAILED */
function withVersion(configuration: string, version: string): string {
  const document = parseDocument(configuration);
  if (document.errors.length > 0 || document.get("kind") !== "ClusterConfiguration") {
    throw new InfraError(
      workloadReasons.WORKLOAD_FAILED,
      "The cluster's kubeadm-config has no ClusterConfiguration",
    );
  }
  if (document.get("kubernetesVersion") === version) {
    return configuration;
  }
  document.set("kubernetesVersion", version);
  return document.toString({ lineWidth: 0 });
}

/**
 * Sets the version of kube-proxy for future nodes. Running pods stay as they are (`OnDelete`): each machine image is
 * prepared for one version, and a machine of the old one does not have the new proxy image. Does nothing without
 * kube-proxy, e.g. if a CNI replaces it.
 * @throws InfraError as WorkloadCluster
 */
export async function setProxyVersion(api: ApiClient, version: string, end: AbortSignal): Promise<void> {
  const found = await api.send({ method: "GET", path: proxyPath, what: "read kube-proxy" }, end, [404]);
  if ("refusal" in found) {
    return;
  }
  const image = parseContainers(found.value).find(({ name }) => name === "kube-proxy")?.image;
  const targetImage = image === undefined ? undefined : imageOfVersion(image, `v${version}`);
  if (targetImage === image) {
    return;
  }
  const containers = [{ name: "kube-proxy", image: targetImage }];
  const body = {
    spec: { updateStrategy: { type: "OnDelete", rollingUpdate: null }, template: { spec: { containers } } },
  };
  const contentType = "application/strategic-merge-patch+json";
  const request = { method: "PATCH", path: proxyPath, body, contentType, what: "write kube-proxy" } as const;
  await api.send(request, end, [404]);
}

/** Returns the image with another tag, without the digest after `@`, which is the old version's. */
export function imageOfVersion(image: string, tag: string): string {
  const [name = ""] = image.split("@");
  const colon = name.lastIndexOf(":");
  const bare = colon > name.lastIndexOf("/") ? name.slice(0, colon) : name;
  return `${bare}:${tag}`;
}
