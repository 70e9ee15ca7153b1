import { test } from "tap";
import { formatBootstrapToken } from "../../../../../server/domains/clusters/bootstrap/bootstrap-token.ts";
import {
  initDocuments,
  joinDocument,
} from "../../../../../server/domains/clusters/bootstrap/kubeadm-config.ts";
import { cluster, nodeOf, ticket, token } from "./cluster-plan.ts";

const labels = "team=red,node.kubernetes.io/instance-type=gpu,beta.kubernetes.io/instance-type=gpu";

/** A slow machine needs more than kubeadm's defaults. */
const timeouts = {
  controlPlaneComponentHealthCheck: "10m0s",
  kubeletHealthCheck: "10m0s",
  kubernetesAPICall: "5m0s",
  etcdAPICall: "5m0s",
  tlsBootstrap: "10m0s",
};

test("a cluster is initialized with configurations for kubeadm and the kubelet", async (t) => {
  t.same(initDocuments(cluster, nodeOf("1.36.3"), token), [
    {
      apiVersion: "kubeadm.k8s.io/v1beta4",
      kind: "InitConfiguration",
      bootstrapTokens: [
        {
          token: formatBootstrapToken(token),
          ttl: "7200s",
          usages: ["signing", "authentication"],
          groups: ["system:bootstrappers:kubeadm:default-node-token"],
        },
      ],
      nodeRegistration: {
        name: "node1",
        imagePullPolicy: "Never",
        kubeletExtraArgs: [{ name: "node-labels", value: labels }],
      },
      timeouts,
    },
    {
      apiVersion: "kubeadm.k8s.io/v1beta4",
      kind: "ClusterConfiguration",
      clusterName: "prod",
      kubernetesVersion: "v1.36.3",
      controlPlaneEndpoint: "192.0.2.10:6443",
      imageRepository: undefined,
      apiServer: { certSANs: ["prod-api.maas"] },
      networking: cluster.network,
      encryptionAlgorithm: "ECDSA-P256",
      certificateValidityPeriod: "43800h0m0s",
    },
    {
      apiVersion: "kubelet.config.k8s.io/v1beta1",
      kind: "KubeletConfiguration",
      cgroupDriver: "systemd",
      rotateCertificates: true,
    },
  ]);
});

test("up to 1.30 the configuration has the previous form, with fewer fields", async (t) => {
  const [init, configuration] = initDocuments(cluster, nodeOf("1.30.14"), token);
  t.equal(init.apiVersion, "kubeadm.k8s.io/v1beta3");
  t.same(init.nodeRegistration.kubeletExtraArgs, { "node-labels": labels });
  t.equal(configuration.apiVersion, "kubeadm.k8s.io/v1beta3");
  t.notOk("encryptionAlgorithm" in configuration);
  t.notOk("certificateValidityPeriod" in configuration);
  t.notOk("timeouts" in init);
  t.equal(configuration.apiServer.timeoutForControlPlane, "10m0s");
  const join = joinDocument(undefined, nodeOf("1.30.14"), ticket);
  t.equal(join.discovery.timeout, "20m0s");
  t.notOk("timeouts" in join);
});

test("a cluster with an image repository pulls images from there", async (t) => {
  const fetching = { ...cluster, imageRepository: "registry.example.com/k8s" };
  const [init, configuration] = initDocuments(fetching, nodeOf("1.36.3"), token);
  t.equal(init.nodeRegistration.imagePullPolicy, "IfNotPresent");
  t.equal(configuration.imageRepository, "registry.example.com/k8s");
});

test("without an endpoint the cluster is reached through its first machine", async (t) => {
  const [, configuration] = initDocuments({ ...cluster, endpoint: undefined }, nodeOf("1.36.3"), token);
  t.equal(configuration.controlPlaneEndpoint, undefined);
});

test("a worker joins with token and hash, a control-plane machine as a control-plane member", async (t) => {
  const worker = joinDocument(undefined, nodeOf("1.36.3"), ticket);
  t.same(worker, {
    apiVersion: "kubeadm.k8s.io/v1beta4",
    kind: "JoinConfiguration",
    discovery: {
      bootstrapToken: {
        token: formatBootstrapToken(token),
        apiServerEndpoint: "192.0.2.10:6443",
        caCertHashes: [ticket.caPublicKeyHash],
      },
    },
    nodeRegistration: { name: "node1", kubeletExtraArgs: [{ name: "node-labels", value: labels }] },
    controlPlane: undefined,
    timeouts: { ...timeouts, discovery: "20m0s" },
  });
  const member = joinDocument(cluster, nodeOf("1.36.3"), ticket);
  t.same(member.controlPlane, {});
  t.equal(member.nodeRegistration.imagePullPolicy, "Never");
});
