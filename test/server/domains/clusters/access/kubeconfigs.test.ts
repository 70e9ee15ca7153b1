import { X509Certificate } from "node:crypto";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { test } from "tap";
import { parse } from "yaml";
import { Cluster } from "../../../../../gen/cnct/kaas/api/api_pb.ts";
import { ClusterService } from "../../../../../gen/hostplane/v1/cluster_pb.ts";
import {
  openClusterSecrets,
  sealClusterSecrets,
} from "../../../../../server/domains/clusters/access/cluster-secrets.ts";
import { createClusterPki } from "../../../../../server/domains/clusters/bootstrap/cluster-pki.ts";
import { methodRuleOf } from "../../../../../server/gateway/method-rules.ts";
import { type ClustersUnderTest, newSlot, startClusters } from "../clusters-under-test.ts";

const { getCluster, deleteCluster } = Cluster.method;
const { getKubeconfig, rotateKubeconfig } = ClusterService.method;

const cluster = "prod";

interface Admin {
  readonly certificate: X509Certificate;
  readonly ca: X509Certificate;
  readonly server: string;
}

function adminOf(kubeconfig: string): Admin {
  const { clusters, users } = parse(kubeconfig);
  const certificate = (base64: string) => new X509Certificate(Buffer.from(base64, "base64"));
  return {
    certificate: certificate(users[0].user["client-certificate-data"]),
    ca: certificate(clusters[0].cluster["certificate-authority-data"]),
    server: clusters[0].cluster.server,
  };
}

async function secretsOf({ store, seal }: ClustersUnderTest) {
  const kept = await store.run("clusters.secrets", { name: cluster });
  if (kept === undefined) {
    throw new Error("the cluster has no secrets");
  }
  return { ...kept, secrets: openClusterSecrets(seal, kept.uid, kept.secretsSealed) };
}

test("a rotated kubeconfig has a new certificate of the same CA, and is returned from then on", async (t) => {
  const { call, createCluster } = await startClusters(t);
  await createCluster(cluster);
  const first = await call(getKubeconfig, { cluster });
  const second = await call(rotateKubeconfig, { cluster });
  t.equal((await call(getKubeconfig, { cluster })).kubeconfig, second.kubeconfig);
  t.equal((await call(getCluster, { name: cluster })).cluster?.kubeconfig, second.kubeconfig);
  const [before, after] = [adminOf(first.kubeconfig), adminOf(second.kubeconfig)];
  t.not(after.certificate.serialNumber, before.certificate.serialNumber);
  t.ok(after.certificate.verify(before.ca.publicKey));
  t.ok(before.certificate.verify(after.ca.publicKey), "the old one is still valid");
  t.equal(after.server, "https://10.20.0.220:6443");
  const expiresAt = second.expiresAt && timestampDate(second.expiresAt);
  t.same(expiresAt, new Date(after.certificate.validTo));
  t.ok((expiresAt?.getTime() ?? 0) > Date.now() + 360 * 24 * 3_600_000);
});

test("any call renews a certificate that is about to expire; concurrent calls agree on one", async (t) => {
  const under = await startClusters(t);
  const { call, createCluster, store, seal } = under;
  await createCluster(cluster);
  const { uid, secretsVersion, secrets } = await secretsOf(under);
  const pki = await createClusterPki(Date.now() - 340 * 24 * 3_600_000);
  const secretsSealed = sealClusterSecrets(seal, uid, { ...secrets, pki });
  await store.run("clusters.setSecrets", { name: cluster, uid, secretsVersion, secretsSealed });
  const [one, other] = await Promise.all([
    call(getCluster, { name: cluster }),
    call(getKubeconfig, { cluster }),
  ]);
  t.equal(one.cluster?.kubeconfig, other.kubeconfig);
  const { certificate } = adminOf(other.kubeconfig);
  t.ok(new Date(certificate.validTo).getTime() > Date.now() + 360 * 24 * 3_600_000);
  t.ok(certificate.verify(new X509Certificate(pki.kubernetesCa.certificatePem).publicKey));
  const after = await secretsOf(under);
  t.equal(after.secretsVersion, secretsVersion + 2, "it was created once");
  t.same(after.secrets.firstToken, secrets.firstToken);
});

test("a kubeconfig has the host that the settings define for its cluster", async (t) => {
  const settings = { kubeconfigHost: (name: string) => `${name}.sandbox.invalid` };
  const { call, createCluster } = await startClusters(t, { settings });
  await createCluster(cluster);
  const { kubeconfig } = await call(getKubeconfig, { cluster });
  t.equal(adminOf(kubeconfig).server, "https://prod.sandbox.invalid:6443");
  t.equal((await call(getCluster, { name: cluster })).cluster?.kubeconfig, kubeconfig);
});

test("without an endpoint a cluster is reached through its first machine", async (t) => {
  const { call, writeSlots } = await startClusters(t, { settings: { endpoints: [] } });
  await call(Cluster.method.createCluster, {
    name: cluster,
    k8sVersion: "1.35.4",
    controlPlaneNodes: { instanceType: "standard", count: 1 },
  });
  await writeSlots([newSlot("w-1", "work"), newSlot("cp-1")]);
  t.match(await call(getKubeconfig, { cluster }), { kubeconfig: "", expiresAt: {} });
  await writeSlots(
    [],
    { uid: "w-1", from: "wanted", ipAddress: "10.20.0.8" },
    { uid: "cp-1", from: "wanted", ipAddress: "10.20.0.9" },
  );
  t.equal(adminOf((await call(getKubeconfig, { cluster })).kubeconfig).server, "https://10.20.0.9:6443");
});

test("a cluster being deleted still returns its kubeconfig, but does not rotate it", async (t) => {
  const { call, createCluster } = await startClusters(t);
  await createCluster(cluster);
  await call(deleteCluster, { name: cluster });
  t.match((await call(getKubeconfig, { cluster })).kubeconfig, /client-key-data/);
  await t.rejects(call(rotateKubeconfig, { cluster }), { name: "InfraError", reason: "CLUSTER_STOPPING" });
  const gone = { name: "InfraError", reason: "CLUSTER_NOT_FOUND" };
  await t.rejects(call(rotateKubeconfig, { cluster: "none" }), gone);
  await t.rejects(call(getKubeconfig, { cluster: "none" }), gone);
});

test("calls that return a kubeconfig are treated as secret: for operators, audited, never cached, no GET, not stored for idempotency keys", async (t) => {
  for (const method of [getCluster, getKubeconfig, rotateKubeconfig]) {
    const rule = methodRuleOf(method);
    t.match(
      rule,
      { role: "operator", secrets: true, secretAnswer: true, cache: false, get: false, domain: "clusters" },
      method.name,
    );
  }
});
