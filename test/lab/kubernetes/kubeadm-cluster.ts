import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Test } from "tap";
import { parse as parseYaml } from "yaml";
import { createKubeadmRenderer } from "../../../server/domains/clusters/bootstrap/kubeadm-renderer.ts";
import { cluster, nodeOf, pki, token } from "../../server/domains/clusters/bootstrap/cluster-plan.ts";
import { freePorts } from "./kubernetes.ts";
import { kubernetesPrograms } from "./kubernetes-programs.ts";

const execute = promisify(execFile);
const scriptPath = fileURLToPath(new URL("kubernetes.sh", import.meta.url));

/** The version to build. */
export const version = "v1.36.3";
export const kubeadm = (...args: readonly string[]) => execute(join(kubernetesPrograms(), "kubeadm"), args);

interface WrittenFile {
  readonly path: string;
  readonly content: string;
}

export const filesOf = (userData: string): readonly WrittenFile[] => parseYaml(userData).write_files;
export const kubeadmConfigOf = (userData: string) =>
  filesOf(userData).find(({ path }) => path === "/etc/hostplane/kubeadm.yaml")?.content ?? "";

/** Builds missing programs, which takes about ten minutes. */
export async function buildKubernetes(): Promise<void> {
  await execute(scriptPath, ["build"], { env: { ...process.env, KUBERNETES_VERSION: version } });
}

/** Lets kubeadm create the certificates of a first machine, for 127.0.0.1. Returns their directory. */
export async function certify(t: Test, configPath: string): Promise<string> {
  const directory = join(t.testdir(), "pki");
  const plan = { ...cluster, certificateNames: ["127.0.0.1"] };
  const text = createKubeadmRenderer().renderFirstControlPlane(plan, nodeOf("1.36.3"), pki, token);
  for (const { path, content } of filesOf(text)) {
    if (path.startsWith("/etc/kubernetes/pki/")) {
      const file = join(directory, path.slice("/etc/kubernetes/pki/".length));
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, content, { mode: 0o600 });
    }
  }
  const config = kubeadmConfigOf(text)
    .replace("clusterName:", `certificatesDir: ${directory}\nclusterName:`)
    .replace("nodeRegistration:", "localAPIEndpoint: {advertiseAddress: 192.0.2.11}\nnodeRegistration:");
  await writeFile(configPath, config);
  await kubeadm("init", "phase", "certs", "all", "--config", configPath);
  return directory;
}

/** Starts etcd and a kube-apiserver with the keys; they run until the test ends. */
export async function startKubeadmCluster(t: Test, directory: string) {
  const lab = join(tmpdir(), `hostplane-kubeadm-${process.pid}`);
  const [port = 0, ...others] = await freePorts(3);
  const env = {
    ...process.env,
    KUBERNETES_DIR: lab,
    KUBERNETES_VERSION: version,
    KUBERNETES_PORTS: [port, ...others].join(" "),
    KUBERNETES_OWNER_PID: String(process.pid),
    KUBERNETES_API_FLAGS: `--client-ca-file ${directory}/ca.crt --enable-bootstrap-token-auth`,
  };
  await mkdir(lab, { mode: 0o700 });
  t.teardown(() => execute(scriptPath, ["destroy"], { env }));
  const read = (name: string) => readFile(join(directory, name), "utf8");
  const files = {
    "ca.crt": `${await read("apiserver.crt")}${await read("ca.crt")}`,
    "ca.key": await read("apiserver.key"),
    "accounts.key": `${await read("sa.key")}${await read("sa.pub")}`,
    "tokens.csv": "",
    "admin.token": "",
  };
  for (const [name, content] of Object.entries(files)) {
    await writeFile(join(lab, name), content, { mode: 0o600 });
  }
  await execute(scriptPath, ["up"], { env });
  return { host: "127.0.0.1", port };
}
