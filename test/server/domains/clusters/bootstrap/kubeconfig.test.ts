import { join } from "node:path";
import { test } from "tap";
import { readKubeconfig } from "../../../../../adapters/kubernetes/kubeconfig.ts";
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
  const path = join(t.testdir({ kubeconfig: text }), "kubeconfig");
  t.match(readKubeconfig(path, "prod-admin@prod"), {
    server: "https://192.0.2.10:6443",
    tls: {
      ca: kubernetesCa.certificatePem,
      cert: admin.certificatePem,
      key: admin.privateKeyPem,
      rejectUnauthorized: true,
    },
  });
  t.same(readKubeconfig(path, undefined), readKubeconfig(path, "prod-admin@prod"), "the context is current");
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
