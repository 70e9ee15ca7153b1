import { request } from "node:https";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { test } from "tap";
import { parse as parseYaml } from "yaml";
import { createWorkload } from "../../../adapters/workload/workload.ts";
import { formatBootstrapToken } from "../../../server/domains/clusters/bootstrap/bootstrap-token.ts";
import { createClientCertificate } from "../../../server/domains/clusters/bootstrap/certificate.ts";
import { createClusterPki } from "../../../server/domains/clusters/bootstrap/cluster-pki.ts";
import { initDocuments } from "../../../server/domains/clusters/bootstrap/kubeadm-config.ts";
import { renderYaml } from "../../../server/domains/clusters/bootstrap/yaml-text.ts";
import {
  type PodOfTest,
  passesWorkloadContract,
  type WorkloadUnderTest,
} from "../../adapters/workload/contract.ts";
import { cluster, nodeOf, pki, token } from "../../server/domains/clusters/bootstrap/cluster-plan.ts";
import { buildKubernetes, certify, startKubeadmCluster } from "./kubeadm-cluster.ts";
import { kubernetesSkipReason } from "./kubernetes.ts";

const skip = kubernetesSkipReason();
const namespace = "default";
const nodes = ["node-2", "node-3"] as const;

interface Answer {
  readonly statusCode: number;
  // biome-ignore lint/suspicious/noExplicitAny: responses of an API server have any shape
  readonly body: any;
}

test("a kube-apiserver with the keys of a cluster", { skip, timeout: 2_400_000 }, async (t) => {
  await buildKubernetes();
  const { port } = await startKubeadmCluster(t, await certify(t, join(t.testdir(), "kubeadm.yaml")));
  const ca = pki.kubernetesCa.certificatePem;
  const query = createSender(port, ca);

  async function put(path: string, name: string, object: object): Promise<void> {
    const created = await query("POST", path, object);
    const status = "status" in object ? { ...created.body, status: object.status } : undefined;
    if (status !== undefined) {
      await query("PUT", `${path}/${name}/status`, status);
    }
  }

  async function setReady(name: string, status: string, reason: string, message: string): Promise<void> {
    const { body } = await query("GET", `/api/v1/nodes/${name}`);
    const conditions = [{ type: "Ready", status, reason, message }];
    await query("PUT", `/api/v1/nodes/${name}/status`, { ...body, status: { ...body.status, conditions } });
  }

  for (const [index, name] of nodes.entries()) {
    await put("/api/v1/nodes", name, {
      metadata: { name, labels: { team: "red" } },
      status: {
        conditions: [{ type: "Ready", status: "True", reason: "KubeletReady", message: "" }],
        addresses: [{ type: "InternalIP", address: `192.0.2.${20 + index}` }],
        nodeInfo: {
          ...{ machineID: "", systemUUID: "", bootID: "", kernelVersion: "", osImage: "" },
          ...{ containerRuntimeVersion: "", kubeProxyVersion: "", operatingSystem: "", architecture: "" },
          kubeletVersion: "v1.36.3",
        },
      },
    });
  }
  const [, configuration] = initDocuments(cluster, nodeOf("1.36.3"), token);
  await query("POST", "/api/v1/namespaces/kube-system/configmaps", {
    metadata: { name: "kubeadm-config" },
    data: { ClusterConfiguration: renderYaml([configuration]) },
  });
  await query("POST", "/apis/apps/v1/namespaces/kube-system/daemonsets", kubeProxy);

  const validity = { notBefore: new Date(Date.now() - 60_000), notAfter: new Date(Date.now() + 600_000) };
  const who = { commonName: "nobody", organization: "nobodies" };
  const nobody = await createClientCertificate(pki.kubernetesCa, who, validity);
  const other = await createClusterPki(Date.now());
  const place = { host: "127.0.0.1", port, caCertificatePem: ca };
  const accessOf = ({ certificatePem, privateKeyPem }: typeof nobody) => ({
    ...place,
    clientCertificatePem: certificatePem,
    clientKeyPem: privateKeyPem,
  });
  const workload = createWorkload();
  t.teardown(() => workload.close());

  const subject: WorkloadUnderTest = {
    workload,
    access: accessOf(pki.admin),
    strangerAccess: accessOf(other.admin),
    nobodyAccess: accessOf(nobody),
    otherCaPem: other.kubernetesCa.certificatePem,
    nodes,
    setNotReady: (name, reason, message) => setReady(name, "False", reason, message),
    // What the node controller then writes.
    silence: (name) => setReady(name, "Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status."),
    async addPod(node, pod) {
      await put(`/api/v1/namespaces/${pod.namespace}/pods`, pod.name, podManifest(node, pod));
    },
    async setProtected(_, name, isProtected) {
      const path = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
      if (!isProtected) {
        await query("DELETE", `${path}/web`);
        return;
      }
      const spec = { minAvailable: 1, selector: { matchLabels: { app: name } } };
      // What the disruption controller writes.
      const status = {
        observedGeneration: 1,
        disruptionsAllowed: 0,
        currentHealthy: 1,
        desiredHealthy: 1,
        expectedPods: 1,
      };
      await put(path, "web", { metadata: { name: "web" }, spec, status });
    },
    async endLeavingPods() {
      const { body } = await query("GET", `/api/v1/namespaces/${namespace}/pods`);
      for (const { metadata } of body.items.filter(
        (pod: { readonly metadata: { readonly deletionTimestamp?: string } }) =>
          pod.metadata.deletionTimestamp !== undefined,
      )) {
        const options = { kind: "DeleteOptions", apiVersion: "v1", gracePeriodSeconds: 0 };
        await query("DELETE", `/api/v1/namespaces/${namespace}/pods/${metadata.name}`, options);
      }
    },
    async isTokenGood(joining) {
      const headers = { authorization: `Bearer ${formatBootstrapToken(joining)}` };
      const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
      const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
      const asToken = createSender(port, ca, headers);
      // The API server learns of Secrets a little later.
      for (let tries = 1; tries <= 10; tries += 1) {
        const { statusCode, body } = await asToken("POST", path, review);
        if (statusCode === 201) {
          return body.status.userInfo.username === `system:bootstrap:${joining.id}`;
        }
        await delay(50);
      }
      return false;
    },
    async versions() {
      const config = await query("GET", "/api/v1/namespaces/kube-system/configmaps/kubeadm-config");
      const proxy = await query("GET", "/apis/apps/v1/namespaces/kube-system/daemonsets/kube-proxy");
      const { updateStrategy, template } = proxy.body.spec;
      return {
        configured: parseYaml(config.body.data.ClusterConfiguration).kubernetesVersion,
        proxyImage: template.spec.containers[0].image,
        strategy: updateStrategy.type,
      };
    },
    async bindings() {
      const { items } = (await query("GET", bindingsPath)).body;
      return items.map(({ metadata }: { readonly metadata: { readonly name: string } }) => metadata.name);
    },
    async deleteBinding(name) {
      await query("DELETE", `${bindingsPath}/${name}`);
    },
  };
  await passesWorkloadContract(t, subject);
});

const bindingsPath = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";

const kubeProxy = {
  metadata: { name: "kube-proxy" },
  spec: {
    selector: { matchLabels: { "k8s-app": "kube-proxy" } },
    updateStrategy: { type: "RollingUpdate" },
    template: {
      metadata: { labels: { "k8s-app": "kube-proxy" } },
      spec: { containers: [{ name: "kube-proxy", image: "registry.k8s.io/kube-proxy:v1.36.3" }] },
    },
  },
};

function podManifest(node: string, { name, ownerKind, phase }: PodOfTest) {
  const uid = "00000000-0000-4000-8000-000000000001";
  const owner = { apiVersion: "apps/v1", kind: ownerKind, name: "owner", uid, controller: true };
  const mirror = { "kubernetes.io/config.mirror": "hash" };
  return {
    metadata: {
      name,
      labels: { app: name },
      ...(ownerKind === "Node" ? { annotations: mirror } : { ownerReferences: [owner] }),
    },
    spec: { nodeName: node, containers: [{ name: "main", image: "none" }] },
    status: { phase, conditions: [{ type: "Ready", status: "True" }] },
  };
}

/**
 * Returns a function that makes requests as the cluster's owner, or anonymously with these headers. It retries while the server
 * is not ready.
 */
function createSender(port: number, ca: string, headers?: Readonly<Record<string, string>>) {
  const { certificatePem: cert, privateKeyPem: key } = pki.admin;
  const as = headers === undefined ? { cert, key } : { headers };
  return async function query(method: string, path: string, body?: object): Promise<Answer> {
    const sent = request({ ca, host: "127.0.0.1", port, method, path, ...as });
    const sentText = body === undefined ? "" : JSON.stringify(body);
    sent.setHeader("content-type", "application/json");
    // Node does not send it by itself for DELETE.
    sent.setHeader("content-length", Buffer.byteLength(sentText));
    const answered = Promise.withResolvers<Answer>();
    sent.on("error", answered.reject);
    sent.on("response", async (response) => {
      const answer = await text(response);
      const body = answer.startsWith("{") ? JSON.parse(answer) : answer;
      answered.resolve({ statusCode: response.statusCode ?? 0, body });
    });
    sent.end(sentText);
    const answer = await answered.promise;
    if (answer.statusCode >= 300 && headers === undefined) {
      throw new Error(`${method} ${path}: ${answer.statusCode} ${JSON.stringify(answer.body)}`);
    }
    return answer;
  };
}
