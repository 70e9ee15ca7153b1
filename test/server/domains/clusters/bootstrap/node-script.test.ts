import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Test, test } from "tap";
import { parse as parseYaml } from "yaml";
import { createKubeadmRenderer } from "../../../../../server/domains/clusters/bootstrap/kubeadm-renderer.ts";
import type { ClusterPlan } from "../../../../../server/domains/clusters/bootstrap/renderer.ts";
import { cluster, nodeOf, pki, ticket, token } from "./cluster-plan.ts";

const renderer = createKubeadmRenderer();
const node = nodeOf("1.36.3");
const kubernetesImages = ["kube-apiserver:v1.36.3", "kube-proxy:v1.36.3", "pause:3.10.2", "etcd:3.6.8-0"].map(
  (name) => `registry.k8s.io/${name}`,
);
const allImages = [...kubernetesImages, "docker.io/library/kube-vip:v1.0.1"];

/** Stubs for a machine's programs; each records its call. */
interface Machine {
  readonly images?: readonly string[];
  /** Shell commands, by program and first argument, e.g. `kubeadm init`. */
  readonly programs?: Readonly<Record<string, string>>;
  /** Programs that do not exist. */
  readonly lacking?: readonly string[];
}

/** Runs the last command of a machine's user data, as cloud-init does, with stubs in place of the machine's programs. */
async function runOn(
  t: Test,
  userData: string,
  { images = allImages, programs = {}, lacking = [] }: Machine,
) {
  const folder = t.testdir();
  const { write_files, runcmd } = parseYaml(userData, { version: "1.1" });
  const path = (name: string) => join(folder, name);
  const files: readonly { readonly path: string; readonly content: string }[] = write_files;
  const contentOf = (name: string) => files.find((file) => file.path.endsWith(name))?.content ?? "";
  await writeFile(path("make-node.sh"), contentOf("make-node.sh"));
  await writeFile(path("kubeadm.yaml"), contentOf("kubeadm.yaml"));
  const cases = Object.entries(programs).map(([call, command]) => `"${call}") ${command} ;;`);
  const stub = [
    "#!/bin/sh",
    `program=$(basename "$0")`,
    `echo "$program $*" >> "${path("calls")}"`,
    `case "$program $1" in`,
    ...cases,
    '"kubectl --kubeconfig") echo https://192.0.2.2:6443 ;;',
    `"kubeadm config") cat "${path("wanted")}" ;;`,
    `"ctr --namespace") cat "${path("images")}" ;;`,
    "esac",
  ].join("\n");
  for (const program of ["kubeadm", "kubelet", "ctr", "kubectl", "systemctl", "sleep"]) {
    if (lacking.includes(program)) {
      continue;
    }
    await writeFile(path(program), stub);
    await chmod(path(program), 0o755);
  }
  await writeFile(path("calls"), "");
  await writeFile(path("wanted"), kubernetesImages.map((image) => `${image}\n`).join(""));
  await writeFile(path("images"), images.map((image) => `${image}\n`).join(""));
  const [, , ...args]: readonly string[] = runcmd.at(-1);
  const env = { PATH: `${folder}:/usr/bin:/bin`, HOSTPLANE_KUBEADM_CONFIG: path("kubeadm.yaml") };
  const { promise, resolve } = Promise.withResolvers<{ readonly code: number; readonly output: string }>();
  execFile("sh", [path("make-node.sh"), ...args], { env }, (error, stdout, stderr) => {
    resolve({ code: typeof error?.code === "number" ? error.code : 0, output: `${stdout}${stderr}` });
  });
  const ended = await promise;
  const calls = (await readFile(path("calls"), "utf8")).trimEnd().split("\n");
  return { ...ended, calls: calls.map((call) => call.replaceAll(`${folder}/`, "")) };
}

const firstMachine = (plan: ClusterPlan = cluster) =>
  renderer.renderFirstControlPlane(plan, node, pki, token);

test("the first machine initializes the cluster without printing its token, and applies the CNI manifest", async (t) => {
  const { code, calls } = await runOn(t, firstMachine(), {});
  t.equal(code, 0);
  t.same(calls.slice(-3), [
    "kubeadm init --config kubeadm.yaml --skip-token-print",
    "kubectl --kubeconfig /etc/kubernetes/controller-manager.conf config view --output jsonpath={.clusters[0].cluster.server}",
    "kubectl apply --server https://192.0.2.2:6443 --server-side --filename /etc/hostplane/cni.yaml",
  ]);
});

test("the manifest is applied through the endpoint if the machine's own API server is not named", async (t) => {
  const { code, calls } = await runOn(t, firstMachine(), { programs: { "kubectl --kubeconfig": "exit 1" } });
  t.equal(code, 0);
  t.equal(calls.at(-1), "kubectl apply --server-side --filename /etc/hostplane/cni.yaml");
});

test("after a failed init nothing is applied, and the machine is reset with status 1", async (t) => {
  const { code, calls, output } = await runOn(t, firstMachine(), {
    programs: { "kubeadm init": 'echo "[ERROR Swap]" >&2; exit 1' },
  });
  t.equal(code, 1);
  t.notOk(calls.some((call) => call.startsWith("kubectl") || call.startsWith("sleep")));
  t.same(calls.slice(-2), ["kubeadm reset --force", "systemctl disable --now kubelet"]);
  t.match(output, /\[ERROR Swap\]\nhostplane: kubeadm init failed\nhostplane: kubeadm init failed\n$/);
});

test("missing images are reported before kubeadm starts", async (t) => {
  const images = allImages.filter((image) => !/etcd|kube-vip/.test(image));
  const texts = [firstMachine(), renderer.renderControlPlane(cluster, node, pki, ticket)];
  for (const text of texts) {
    const { code, calls, output } = await runOn(t, text, { images });
    t.equal(code, 1);
    t.notOk(calls.some((call) => /^kubeadm (init|join)/.test(call)));
    t.match(
      output,
      /lacks these container images, .*: registry\.k8s\.io\/etcd:3\.6\.8-0 kube-vip:v1\.0\.1\n/,
    );
  }
});

test("missing programs and a missing kubelet unit are reported before kubeadm starts", async (t) => {
  const worker = renderer.renderWorker(cluster, node, ticket);
  for (const [text, program] of [
    [firstMachine(), "kubectl"],
    [worker, "kubelet"],
    [worker, "ctr"],
  ] as const) {
    // The script would also find this host's programs.
    if (existsSync(`/usr/bin/${program}`) || existsSync(`/usr/local/bin/${program}`)) {
      continue;
    }
    const { code, calls, output } = await runOn(t, text, { lacking: [program] });
    t.equal(code, 1);
    t.notOk(calls.some((call) => /^kubeadm (init|join)/.test(call)));
    t.match(output, `hostplane: the machine's image lacks these programs: ${program}\n`);
  }
  const noUnit = await runOn(t, worker, { programs: { "systemctl cat": "exit 1" } });
  t.match(noUnit, { code: 1, output: /lacks the unit kubelet\.service\n/ });
  t.notOk(noUnit.calls.some((call) => call.startsWith("kubeadm join")));
  t.equal((await runOn(t, worker, { lacking: ["kubectl"] })).code, 0, "a worker applies nothing");
});

test("a worker needs only the images of a worker", async (t) => {
  const text = renderer.renderWorker(cluster, node, ticket);
  const images = kubernetesImages.filter((image) => /kube-proxy|pause/.test(image));
  const { code, calls } = await runOn(t, text, { images });
  t.equal(code, 0);
  t.equal(calls.at(-1), "kubeadm join --config kubeadm.yaml");
  const lacking = await runOn(t, text, { images: images.slice(0, 1) });
  t.match(lacking, { code: 1, output: /registry\.k8s\.io\/pause:3\.10\.2/ });
});

test("images may be missing if they can be pulled", async (t) => {
  const plan = { ...cluster, imageRepository: "registry.example.org/k8s" };
  const { code, calls } = await runOn(t, firstMachine(plan), { images: [] });
  t.equal(code, 0);
  t.notOk(calls.some((call) => call.startsWith("ctr")));
});

test("a failed join and an unresponsive container runtime are failures of the machine", async (t) => {
  const text = renderer.renderWorker(cluster, node, ticket);
  const programs = { "kubeadm join": "exit 3" };
  t.match(await runOn(t, text, { programs }), { code: 1, output: /kubeadm join failed\n$/ });
  const silent = await runOn(t, text, { programs: { "ctr --namespace": "exit 1" } });
  t.match(silent, { code: 1, output: /containerd does not respond\n$/ });
});

test("a manifest that fails at first is applied again, and one that always fails is a failure of the machine", async (t) => {
  const folder = t.testdir();
  const once = `[ -e ${folder}/tried ] || { touch ${folder}/tried; exit 1; }`;
  const second = await runOn(t, firstMachine(), { programs: { "kubectl apply": once } });
  t.equal(second.code, 0);
  t.same(
    second.calls.slice(-3).map((call) => call.split(" ")[0]),
    ["kubectl", "sleep", "kubectl"],
  );
  const never = await runOn(t, firstMachine(), { programs: { "kubectl apply": "exit 1" } });
  t.match(never, { code: 1, output: /kubectl apply failed 10 times\n$/ });
  t.ok(never.calls.includes("kubeadm reset --force"));
});

test("a path with shell metacharacters is used literally", async (t) => {
  const path = "/opt/$(touch hacked) `reboot`; '*'.yaml";
  const { code, calls } = await runOn(t, firstMachine({ ...cluster, cni: { path } }), {});
  t.equal(code, 0);
  t.equal(calls.at(-1), `kubectl apply --server https://192.0.2.2:6443 --server-side --filename ${path}`);
});
