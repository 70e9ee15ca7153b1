import type { Boot } from "./boot.ts";
import { type BootPlan, caHashOf } from "./boot-plan.ts";
import { type FakeCluster, type FakeSecret, isAlive } from "./cluster.ts";

type JoinPlan = Extract<BootPlan, { readonly kind: "join" }>;

/** Returns why kubeadm or the kubelet keeps a machine from ever joining the cluster; undefined if it can join. */
export function joinRefusal(boot: Boot, plan: JoinPlan, cluster: FakeCluster): string | undefined {
  const { token, caHashes, pki, nodeName } = plan;
  if (!caHashes.includes(caHashOf(cluster.pki.ca))) {
    return "the hash of the cluster's CA is another";
  }
  const tokenRefusal = refusalOfToken(cluster, token, boot.joinsAtMs);
  if (tokenRefusal !== undefined) {
    return tokenRefusal;
  }
  const node = cluster.nodes.get(nodeName);
  if (node !== undefined && isAlive(node.boot) && node.notReady === undefined) {
    return `a Node with name ${nodeName} and status Ready already exists in the cluster`;
  }
  if (pki !== undefined && keysOf(pki) !== keysOf(cluster.pki)) {
    return "the keys of the control plane are another cluster's";
  }
  return versionRefusal(boot.version, cluster, pki !== undefined);
}

function keysOf({ ca, etcdCa }: FakeCluster["pki"]): string {
  return [ca.certificatePem, ca.keyPem, etcdCa.certificatePem, etcdCa.keyPem].join("\n");
}

function refusalOfToken({ secrets }: FakeCluster, token: string, atMs: number): string | undefined {
  const [id = "", secret] = token.split(".");
  const found: FakeSecret | undefined = secrets.get(`kube-system/bootstrap-token-${id}`);
  const { data } = found ?? {};
  if (found?.type !== "bootstrap.kubernetes.io/token" || data?.["token-id"] !== id) {
    return `there is no token ${id}`;
  }
  if (data["token-secret"] !== secret) {
    return `the token ${id} has another secret`;
  }
  if (!(Date.parse(data.expiration ?? "") > atMs)) {
    return `the token ${id} has expired`;
  }
  const isUsable = ["authentication", "signing"].every(
    (usage) => data[`usage-bootstrap-${usage}`] === "true",
  );
  return isUsable ? undefined : `the token ${id} is not for that`;
}

function versionRefusal(version: string, cluster: FakeCluster, isControlPlane: boolean): string | undefined {
  const ofCluster = configuredVersion(cluster);
  if (isControlPlane) {
    const isOther = compareVersions(version, ofCluster) > 0 || minorOf(version) < minorOf(ofCluster);
    return isOther ? `kubeadm of ${version} does not make a control plane of ${ofCluster}` : undefined;
  }
  const newer = cluster.servers().find((server) => compareVersions(version, server.version) > 0);
  return newer && `a kubelet of ${version} is newer than the API server of ${newer.version}`;
}

/** Returns the version in `kubeadm-config`, e.g. `1.36.3`. */
export function configuredVersion({ config }: FakeCluster): string {
  return /^kubernetesVersion: "?v([0-9.]+)"?$/m.exec(config.data.ClusterConfiguration ?? "")?.[1] ?? "";
}

function compareVersions(left: string, right: string): number {
  return left.localeCompare(right, "en", { numeric: true });
}

function minorOf(version: string): number {
  return Number(version.split(".")[1]);
}
