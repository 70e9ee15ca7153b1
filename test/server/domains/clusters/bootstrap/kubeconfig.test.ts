import { KubeConfig } from "@kubernetes/client-node";
import { test } from "tap";
import { createClusterPki } from "../../../../../server/domains/clusters/bootstrap/cluster-pki.ts";
import { renderKubeconfig } from "../../../../../server/domains/clusters/bootstrap/kubeconfig.ts";

test("a kubeconfig contains everything that a Kubernetes client needs", async (t) => {
  const { kubernetesCa, admin } = await createClusterPki(Date.now());
  const text = renderKubeconfig(
    "prod",
    { host: "192.0.2.10", port: 6443 },
    kubernetesCa.certificatePem,
    admin,
  );
  const config = new KubeConfig();
  config.loadFromString(text);
  t.equal(config.getCurrentContext(), "prod-admin@prod");
  t.equal(config.getCurrentCluster()?.server, "https://192.0.2.10:6443");
  const decoded = (base64: string | undefined) => Buffer.from(base64 ?? "", "base64").toString();
  t.equal(decoded(config.getCurrentCluster()?.caData), kubernetesCa.certificatePem);
  t.equal(decoded(config.getCurrentUser()?.certData), admin.certificatePem);
  t.equal(decoded(config.getCurrentUser()?.keyData), admin.privateKeyPem);
  t.notOk(
    text.includes(Buffer.from(kubernetesCa.privateKeyPem).toString("base64")),
    "no private key of the CA",
  );
});

test("IPv6 addresses are in brackets", async (t) => {
  const key = { certificatePem: "certificate", privateKeyPem: "key" };
  t.match(
    renderKubeconfig("a", { host: "2001:db8::1", port: 6443 }, "ca", key),
    '"https://[2001:db8::1]:6443"',
  );
  t.match(renderKubeconfig("a", { host: "a-api.maas", port: 443 }, "ca", key), '"https://a-api.maas:443"');
});
