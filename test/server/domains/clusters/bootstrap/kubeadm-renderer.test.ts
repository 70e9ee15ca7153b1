import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { test } from "tap";
import { parseAllDocuments, parse as parseYaml } from "yaml";
import { createKubeadmRenderer } from "../../../../../server/domains/clusters/bootstrap/kubeadm-renderer.ts";
import type { ClusterPlan, NodePlan } from "../../../../../server/domains/clusters/bootstrap/renderer.ts";
import { cluster, endpoint, nodeOf, pki, ticket, token } from "./cluster-plan.ts";

const renderer = createKubeadmRenderer();
const node = nodeOf("1.36.3");

interface CloudConfig {
  readonly write_files: readonly {
    readonly path: string;
    readonly content: string;
    readonly permissions: string;
  }[];
  readonly runcmd: readonly (readonly string[])[];
}

function readConfig(text: string): CloudConfig {
  return parseYaml(text, { version: "1.1" });
}

function contentOf(text: string, path: string): string | undefined {
  return readConfig(text).write_files.find((file) => file.path === path)?.content;
}

function kubeadmOf(text: string): readonly unknown[] {
  const content = contentOf(text, "/etc/hostplane/kubeadm.yaml") ?? "";
  return parseAllDocuments(content, { version: "1.1" }).map((document) => document.toJSON());
}

const kindsOf = (text: string) => kubeadmOf(text).map((document) => Object(document).kind);
const keyFiles = ["ca", "etcd/ca", "front-proxy-ca", "sa"].map((name) => `/etc/kubernetes/pki/${name}.key`);

test("the first machine initializes the cluster and installs the CNI plugin", async (t) => {
  const text = renderer.renderFirstControlPlane(cluster, node, pki, token);
  t.same(kindsOf(text), ["InitConfiguration", "ClusterConfiguration", "KubeletConfiguration"]);
  t.equal(contentOf(text, "/etc/kubernetes/pki/ca.crt"), pki.kubernetesCa.certificatePem);
  t.equal(contentOf(text, "/etc/kubernetes/pki/ca.key"), pki.kubernetesCa.privateKeyPem);
  t.equal(contentOf(text, "/etc/kubernetes/pki/etcd/ca.key"), pki.etcdCa.privateKeyPem);
  t.equal(contentOf(text, "/etc/kubernetes/pki/sa.pub"), pki.serviceAccount.publicKeyPem);
  t.equal(contentOf(text, "/etc/hostplane/cni.yaml"), "apiVersion: v1\nkind: List\nitems: []\n");
  t.match(contentOf(text, "/etc/kubernetes/manifests/kube-vip.yaml"), /super-admin\.conf/);
  const commands = readConfig(text).runcmd;
  t.same(commands.at(-1)?.slice(2), [
    ...["init", "--images", "1.36.3", "control-plane"],
    ...["--kube-vip", "kube-vip:v1.0.1", "--cni", "/etc/hostplane/cni.yaml"],
  ]);
});

test("further control-plane machines get the keys and join", async (t) => {
  const text = renderer.renderControlPlane(cluster, node, pki, ticket);
  t.same(kindsOf(text), ["JoinConfiguration"]);
  t.same(Object(kubeadmOf(text)[0]).controlPlane, {});
  t.equal(contentOf(text, "/etc/kubernetes/pki/ca.key"), pki.kubernetesCa.privateKeyPem);
  t.notMatch(contentOf(text, "/etc/kubernetes/manifests/kube-vip.yaml"), /super-admin\.conf/);
  t.equal(contentOf(text, "/etc/hostplane/cni.yaml"), undefined);
  const joining = ["join", "--images", "1.36.3", "control-plane", "--kube-vip", "kube-vip:v1.0.1"];
  t.same(readConfig(text).runcmd.at(-1)?.slice(2), joining);
});

test("a worker gets none of the cluster's keys, and no certificate files, which would make kubeadm fail", async (t) => {
  const text = renderer.renderWorker(cluster, node, ticket);
  t.same(kindsOf(text), ["JoinConfiguration"]);
  t.notOk("controlPlane" in Object(kubeadmOf(text)[0]));
  t.notMatch(text, /PRIVATE KEY|CERTIFICATE/);
  t.notOk(readConfig(text).write_files.some(({ path }) => path.startsWith("/etc/kubernetes/")));
  t.same(readConfig(text).runcmd.at(-1)?.slice(2), ["join", "--images", "1.36.3", "worker"]);
  t.match(text, ticket.caPublicKeyHash);
});

test("secrets are readable by root only", async (t) => {
  const texts = [
    renderer.renderFirstControlPlane(cluster, node, pki, token),
    renderer.renderControlPlane(cluster, node, pki, ticket),
    renderer.renderWorker(cluster, node, ticket),
  ];
  for (const { path, content, permissions } of texts.flatMap((text) => readConfig(text).write_files)) {
    const isSecret = content.includes("PRIVATE KEY") || content.includes(token.secret);
    t.equal(isSecret, keyFiles.includes(path) || path.endsWith("kubeadm.yaml"), path);
    t.ok(!isSecret || permissions === "0600", path);
  }
  for (const text of texts) {
    t.notOk(
      text.includes(pki.admin.privateKeyPem.split("\n")[1] ?? ""),
      "no machine has the administrator's key",
    );
  }
});

test("the same input gives the same text", async (t) => {
  t.equal(
    renderer.renderFirstControlPlane(cluster, node, pki, token),
    renderer.renderFirstControlPlane(structuredClone(cluster), structuredClone(node), pki, token),
  );
});

test("the CNI manifest may be in the machine's image, and the address may be managed elsewhere", async (t) => {
  const plan: ClusterPlan = { ...cluster, cni: { path: "/opt/cni.yaml" }, kubeVipImage: undefined };
  const text = renderer.renderFirstControlPlane(plan, node, pki, token);
  t.equal(contentOf(text, "/etc/hostplane/cni.yaml"), undefined);
  t.equal(readConfig(text).runcmd.at(-1)?.at(-1), "/opt/cni.yaml");
  t.notMatch(readConfig(text).runcmd.at(-1), ["--kube-vip"]);
  t.equal(contentOf(text, "/etc/kubernetes/manifests/kube-vip.yaml"), undefined);
});

test("a machine does not download anything", async (t) => {
  const programs = new Set(["swapoff", "systemctl", "modprobe", "sysctl", "sh"]);
  for (const text of [
    renderer.renderFirstControlPlane(cluster, node, pki, token),
    renderer.renderControlPlane(cluster, node, pki, ticket),
    renderer.renderWorker(cluster, node, ticket),
  ]) {
    t.notMatch(text, /https?:/);
    t.notMatch(text, /imagePullPolicy: "(?!Never")/);
    t.ok(readConfig(text).runcmd.every(([program = ""]) => programs.has(program)));
  }
});

/** Texts with a special meaning in YAML, shells, paths, kubelet arguments or Jinja. */
const hostile = fc.oneof(
  fc.string({ unit: fc.constantFrom(..."a \n\t-#:'\"{}[]&*!|>%@`$();\\/.,=~\u0085\u2028\0") }),
  fc.constantFrom(
    ...[
      "'; reboot #",
      "$(reboot)",
      "`reboot`",
      "a\n  - path: /etc/passwd",
      "../../etc/passwd",
      "\n---\nkind: X",
    ],
    ...["{{ ds }}", "{% x %}", "on", "null", "1e3", "*a", "&a", "!!python/object:x", "a: b", "a,b=c", "<<"],
  ),
  fc.string({ unit: "grapheme" }),
);

/** Returns all leaves of a document with their paths. Embedded documents are parsed. */
function leavesOf(value: unknown, way = ""): readonly string[] {
  if (typeof value === "object" && value !== null) {
    return Object.entries(value).flatMap(([key, part]) => leavesOf(part, `${way}/${key}`));
  }
  return [`${way}: ${JSON.stringify(value)}`];
}

function allLeavesOf(text: string): readonly string[] {
  const config = readConfig(text);
  const files = config.write_files.map(({ path, content, ...file }) =>
    path.endsWith("kubeadm.yaml")
      ? { ...file, path, documents: kubeadmOf(text) }
      : { ...file, path, content },
  );
  return leavesOf({ ...config, write_files: files });
}

/** Counts the leaves that differ; Infinity when the paths differ. */
function differences(text: string, other: string): number {
  const [leaves, others] = [allLeavesOf(text), allLeavesOf(other)];
  const ways = (list: readonly string[]) => list.map((leaf) => leaf.slice(0, leaf.indexOf(": ")));
  return isDeepStrictEqual(ways(leaves), ways(others))
    ? leaves.filter((leaf, index) => leaf !== others[index]).length
    : Number.POSITIVE_INFINITY;
}

test("a name or label changes only its own value, whatever it contains", async () => {
  const plain = renderer.renderFirstControlPlane(cluster, node, pki, token);
  const changes: ((text: string) => readonly [ClusterPlan, NodePlan])[] = [
    (text) => [{ ...cluster, name: text }, node],
    (text) => [cluster, { ...node, name: text }],
    (text) => [cluster, { ...node, labels: [{ name: text, value: "x" }] }],
    (text) => [cluster, { ...node, labels: [{ name: "x", value: text }] }],
    (text) => [{ ...cluster, certificateNames: [text] }, node],
  ];
  fc.assert(
    fc.property(fc.constantFrom(...changes), hostile, (change, text) => {
      const [changedCluster, changedNode] = change(text);
      return (
        differences(plain, renderer.renderFirstControlPlane(changedCluster, changedNode, pki, token)) <= 1
      );
    }),
    { numRuns: 300 },
  );
});

test("the path of a manifest is one argument of one command, whatever it contains", async () => {
  const render = (path: string) =>
    renderer.renderFirstControlPlane({ ...cluster, cni: { path } }, node, pki, token);
  const plain = render("/opt/cni.yaml");
  fc.assert(fc.property(hostile, (path) => differences(plain, render(path)) <= 1));
});

test("a worker's name, label and endpoint each change only their own value", async () => {
  const plain = renderer.renderWorker(cluster, node, ticket);
  fc.assert(
    fc.property(hostile, hostile, hostile, (name, value, host) => {
      const changed = { ...node, name, labels: [{ name: "x", value }] };
      const text = renderer.renderWorker(cluster, changed, { ...ticket, endpoint: { ...endpoint, host } });
      return differences(plain, text) <= 3;
    }),
    { numRuns: 300 },
  );
});
