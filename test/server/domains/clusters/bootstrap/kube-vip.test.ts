import { test } from "tap";
import { parse as parseYaml } from "yaml";
import { kubeVipFiles } from "../../../../../server/domains/clusters/bootstrap/kube-vip.ts";
import { parseKubernetesVersion } from "../../../../../server/domains/clusters/bootstrap/kubernetes-version.ts";

function kubeVipOf(version: string, isFirst: boolean, host = "192.0.2.10") {
  const parsed = parseKubernetesVersion(version, "version");
  const [manifest, hosts] = kubeVipFiles("kube-vip:v1", "Never", { host, port: 6443 }, parsed, isFirst);
  const { spec } = parseYaml(manifest?.content ?? "");
  const [container] = spec.containers;
  const variables: { name: string; value: string }[] = container.env;
  return {
    manifest,
    hosts,
    container,
    variables: Object.fromEntries(variables.map(({ name, value }) => [name, value])),
    volumes: spec.volumes,
  };
}

test("kube-vip is a static pod that announces the cluster's address", async (t) => {
  const { manifest, container, variables } = kubeVipOf("1.36.3", true);
  t.equal(manifest?.path, "/etc/kubernetes/manifests/kube-vip.yaml");
  t.match(container, { image: "kube-vip:v1", imagePullPolicy: "Never", args: ["manager"] });
  t.match(variables, { address: "192.0.2.10", port: "6443", vip_subnet: "32", cp_enable: "true" });
  t.match(kubeVipOf("1.36.3", true, "2001:db8::1").variables, { address: "2001:db8::1", vip_subnet: "128" });
});

test("kube-vip has the rights it needs while the cluster is initialized", async (t) => {
  for (const [version, isFirst, file] of [
    ["1.28.15", true, "admin.conf"],
    ["1.29.0", true, "super-admin.conf"],
    ["1.36.3", true, "super-admin.conf"],
    ["1.28.15", false, "admin.conf"],
    ["1.36.3", false, "admin.conf"],
  ] as const) {
    const { volumes, container } = kubeVipOf(version, isFirst);
    const hostPath = { path: `/etc/kubernetes/${file}`, type: "File" };
    t.same(volumes[0], { name: "kubeconfig", hostPath }, `${version}, ${isFirst ? "first" : "further"}`);
    t.equal(container.volumeMounts[0].mountPath, "/etc/kubernetes/admin.conf");
  }
});

test("kube-vip calls the API server on its own machine", async (t) => {
  const { hosts, volumes, container } = kubeVipOf("1.36.3", false);
  t.match(hosts?.content, /^127\.0\.0\.1 .*\bkubernetes\b/);
  t.same(volumes[1], { name: "hosts", hostPath: { path: hosts?.path, type: "File" } });
  t.same(container.volumeMounts[1], { name: "hosts", mountPath: "/etc/hosts", readOnly: true });
});
