import { test } from "tap";
import { configSchema } from "../../../../server/gateway/config/schema.ts";

const least = {
  maas: { url: "http://maas:5240/MAAS", apiKeyFile: "/etc/hostplane/maas.key" },
  cni: { manifest: "/etc/hostplane/flannel.yaml" },
};

function messagesOf(clusters: unknown): readonly string[] {
  const { issues } = configSchema.safeParse({ clusters }).error ?? { issues: [] };
  return issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
}

test("a MAAS, its key and a pod network manifest are sufficient", async (t) => {
  t.same(configSchema.parse({ clusters: least }).clusters, {
    ...least,
    network: { podSubnet: "10.244.0.0/16", serviceSubnet: "10.96.0.0/12", dnsDomain: "cluster.local" },
    machines: {},
    deployTimeoutMinutes: 45,
    joinTimeoutMinutes: 20,
    drainTimeoutMinutes: 10,
    pollSeconds: 10,
    leaseSeconds: 30,
  });
  t.match(messagesOf({}), [/clusters\.maas: /, /clusters\.cni: /]);
});

test("the address of a MAAS has no password", async (t) => {
  for (const url of ["maas:5240", "ftp://maas/MAAS", "http://me:secret@maas/MAAS", "http://maas/MAAS?a"]) {
    t.match(messagesOf({ ...least, maas: { ...least.maas, url } }), [/maas\.url: expected a MAAS URL/], url);
  }
});

test("the pod network manifest is on this host or in the image, never both", async (t) => {
  const one = [/clusters\.cni: expected one of manifest and path/];
  t.match(messagesOf({ ...least, cni: {} }), one);
  t.match(messagesOf({ ...least, cni: { manifest: "a.yaml", path: "/b.yaml" } }), one);
  t.match(messagesOf({ ...least, cni: { path: "opt/cni.yaml" } }), [
    /cni\.path: expected a path that begins/,
  ]);
  t.same(messagesOf({ ...least, cni: { path: "/opt/cni/flannel.yaml" } }), []);
});

test("cluster addresses are single ones and ranges, each once, and need an image that announces them", async (t) => {
  const kubeVipImage = "ghcr.io/kube-vip/kube-vip:v1.0.1";
  const endpoint = (...addresses: string[]) => ({ ...least, endpoint: { addresses, kubeVipImage } });
  t.same(messagesOf(endpoint("10.20.0.200-10.20.0.250", "10.20.1.7", "2001:db8::7")), []);
  t.match(messagesOf({ ...least, endpoint: { addresses: ["10.20.0.7"] } }), [/kubeVipImage/]);
  t.match(messagesOf(endpoint()), [/endpoint\.addresses: /]);
  t.match(messagesOf(endpoint("10.20.0.0/24")), [/addresses\.0: expected an IP address, or an IPv4 range/]);
  t.match(messagesOf(endpoint("10.20.0.1-10.20.0.9", "10.20.0.5")), [/found 10\.20\.0\.5 twice/]);
  t.match(messagesOf(endpoint("10.20.0.0-10.20.3.231", "10.30.0.1")), [/at most 1000 addresses in total/]);
  t.match(messagesOf(endpoint("10.244.3.7")), [
    /expected addresses outside network\.podSubnet \(10\.244\.0\.0\/16\), found 10\.244\.3\.7/,
  ]);
});

test("networks inside clusters have a size that Kubernetes accepts, and do not overlap", async (t) => {
  const network = (podSubnet: string, serviceSubnet: string) => ({
    ...least,
    network: { podSubnet, serviceSubnet },
  });
  t.same(messagesOf(network("172.16.0.0/16", "172.17.0.0/20")), []);
  t.same(messagesOf(network("2001:db8:1::/56", "2001:db8:2::/112")), []);
  t.match(messagesOf(network("10.96.0.0/16", "10.96.0.0/12")), [
    /serviceSubnet: expected a range that does not overlap/,
  ]);
  t.match(messagesOf(network("10.0.0.0/8", "10.96.0.0/12")), [
    /serviceSubnet: expected a range that does not overlap/,
  ]);
  t.match(messagesOf(network("2001:db8:1::/56", "10.96.0.0/12")), [/expected the same address family/]);
  t.match(messagesOf(network("10.244.0.0/25", "10.96.0.0/12")), [
    /podSubnet: expected a prefix of 8 to 24 bits/,
  ]);
  t.match(messagesOf(network("10.244.0.0/16", "10.96.0.0/8")), [/serviceSubnet: expected /]);
  t.match(messagesOf(network("10.244.0.0", "10.96.0.0/12")), [/podSubnet: expected a prefix/]);
  t.match(messagesOf({ ...least, network: { dnsDomain: "Cluster.local" } }), [
    /dnsDomain: expected a lower-case DNS name/,
  ]);
});

test("machines are selected by properties that MAAS has", async (t) => {
  const machines = {
    pool: "kube",
    zone: "rack 1",
    minCpuCount: 8,
    minMemoryMib: 16_384,
    architecture: "amd64",
  };
  t.same(configSchema.parse({ clusters: { ...least, machines } }).clusters?.machines, machines);
  t.match(messagesOf({ ...least, machines: { pool: "-" } }), [/machines\.pool: expected a MAAS name/]);
  t.match(messagesOf({ ...least, machines: { architecture: "AMD" } }), [/expected a MAAS architecture/]);
});
