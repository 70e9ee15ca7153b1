import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { copyFile, link, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { buildKubernetesPrograms } from "../kubernetes/kubernetes-programs.ts";
import { type ContainerImage, writeContainerArchive } from "./container-archive.ts";
import { type MachineKind, machineScriptOf } from "./kubernetes-machines.ts";

const execute = promisify(execFile);
const here = dirname(fileURLToPath(import.meta.url));
const imageScript = join(here, "../../../deploy/machine-image.sh");
const adaptScript = join(here, "kubernetes-machine/adapt-image.sh");
const sources = join(here, "kubernetes-images");

/** Container images that are not part of Kubernetes. */
export const kubeVipImage = "hostplane-lab/kube-vip:v1";
export const podNetworkImage = "hostplane-lab/pod-network:v1";
export const toolboxImage = "hostplane-lab/toolbox:v1";
export const podNetworkManifest = join(sources, "pod-network.yaml");

const programs = [
  ...["pause", "kubeadm", "kubelet", "etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"],
  ...["kube-proxy", "kubectl", "coredns", "virtual-address"],
];

export interface KubernetesImage {
  /** Without `v`. */
  readonly version: string;
  /** What the script of machines of this kind starts: a root file system, or a directory with a disk. Never written to. */
  readonly directory: string;
  /** Directory of the programs. */
  readonly programs: string;
}

/**
 * Builds a machine image with the documented script, once per version: half an hour for the programs, minutes for the rest.
 * @param version e.g. `1.36.3`
 * @param earlier versions that clusters are upgraded from; their CoreDNS is kept
 */
export async function buildKubernetesImage(
  kind: MachineKind,
  version: string,
  earlier: readonly string[] = [],
): Promise<KubernetesImage> {
  const bin = await buildKubernetesPrograms(version, programs);
  const cache = dirname(bin);
  const directory = join(cache, kind === "vm" ? "vm" : "machine");
  if (!existsSync(directory)) {
    const archives = join(cache, kind === "vm" ? "vm-images" : "images");
    for (const [file, image] of await containerImages(kind, version, bin, earlier)) {
      await writeImage(join(archives, `${file}.tar`), image, bin);
    }
    await (kind === "vm" ? buildDisk : buildContainer)(directory, bin, archives);
  }
  return { version, directory, programs: bin };
}

interface ProgramImage extends Pick<ContainerImage, "name" | "entrypoint"> {
  /** Files for `/usr/local/bin`, by their name there. */
  readonly files: Readonly<Record<string, string>>;
  readonly hasSystem: boolean;
}

async function imageNames(version: string, bin: string): Promise<readonly string[]> {
  const list = ["config", "images", "list", "--kubernetes-version", `v${version}`];
  return (await execute(join(bin, "kubeadm"), list)).stdout.trim().split("\n");
}

async function containerImages(
  kind: MachineKind,
  version: string,
  bin: string,
  earlier: readonly string[],
): Promise<ReadonlyMap<string, ProgramImage>> {
  const images = new Map<string, ProgramImage>();
  const names = [...(await imageNames(version, bin))];
  for (const each of earlier) {
    const before = await imageNames(each, await buildKubernetesPrograms(each, programs));
    names.push(...before.filter((name) => name.includes("coredns") && !names.includes(name)));
  }
  for (const name of names) {
    const program = /([a-z-]+):[^:]+$/.exec(name)?.[1] ?? name;
    const isProxy = program === "kube-proxy";
    const proxy = { "kube-proxy": join(sources, "kube-proxy.sh"), "kube-proxy.real": join(bin, program) };
    const files = isProxy && kind === "container" ? proxy : { [program]: join(bin, program) };
    const file = name.split("/").at(-1) ?? name;
    images.set(file, { name, entrypoint: [`/usr/local/bin/${program}`], files, hasSystem: isProxy });
  }
  const own = { "virtual-address": join(bin, "virtual-address") };
  const network = { kubectl: join(bin, "kubectl"), "pod-network": join(sources, "pod-network.sh") };
  images.set("kube-vip", {
    ...{ name: kubeVipImage, files: own, hasSystem: false },
    entrypoint: ["/usr/local/bin/virtual-address"],
  });
  images.set("pod-network", {
    ...{ name: podNetworkImage, files: network, hasSystem: true },
    entrypoint: ["/usr/local/bin/pod-network"],
  });
  images.set("toolbox", { name: toolboxImage, files: {}, hasSystem: true, entrypoint: ["/bin/busybox"] });
  return images;
}

async function writeImage(file: string, image: ProgramImage, bin: string): Promise<void> {
  if (existsSync(file)) {
    return;
  }
  await mkdir(dirname(file), { recursive: true });
  const layer = await mkdtemp(join(dirname(file), "layer-"));
  try {
    const target = join(layer, "usr/local/bin");
    await mkdir(target, { recursive: true });
    for (const [name, source] of Object.entries(image.files)) {
      await (dirname(source) === bin
        ? link(source, join(target, name))
        : copyFile(source, join(target, name)));
    }
    const layers = image.hasSystem ? [await baseSystem(bin), layer] : [layer];
    await writeContainerArchive(file, { name: image.name, layers, entrypoint: image.entrypoint });
  } finally {
    await rm(layer, { recursive: true, force: true });
  }
}

/** Returns a root with Debian's programs that the lab's containers run: a shell, and the tools of kube-proxy. */
async function baseSystem(bin: string): Promise<string> {
  const directory = join(dirname(bin), "base");
  if (!existsSync(directory)) {
    const part = `${directory}.part`;
    await rm(part, { recursive: true, force: true });
    const packages = "--include=busybox,iptables,nftables,conntrack,iproute2";
    await execute("mmdebstrap", ["--quiet", "--mode=root", "--variant=extract", packages, "bookworm", part]);
    // Without dpkg's alternatives there is no `iptables`.
    for (const name of ["iptables", "ip6tables"].flatMap((each) => [
      each,
      `${each}-save`,
      `${each}-restore`,
    ])) {
      await execute("ln", ["-sf", "xtables-nft-multi", join(part, "usr/sbin", name)]);
    }
    await rename(part, directory);
  }
  return directory;
}

async function buildContainer(directory: string, bin: string, archives: string): Promise<void> {
  const part = `${directory}.part`;
  await rm(part, { recursive: true, force: true });
  await runImageScript(bin, archives, [], part);
  await execute(adaptScript, [part]);
  await rename(part, directory);
}

/** Builds the documented image, with a kernel and the packages that apply MAAS's network configuration. */
async function buildDisk(directory: string, bin: string, archives: string): Promise<void> {
  const archive = `${directory}.tar.gz`;
  await rm(archive, { force: true });
  const packages = ["linux-image-cloud-amd64", "netplan.io", "systemd-resolved"];
  await runImageScript(bin, archives, packages, archive);
  await execute(machineScriptOf("vm"), ["image", archive, directory]);
  await rm(archive);
}

async function runImageScript(
  bin: string,
  archives: string,
  packages: readonly string[],
  output: string,
): Promise<void> {
  const required = [kubeVipImage, podNetworkImage, toolboxImage].flatMap((name) => ["--image", name]);
  const further = packages.flatMap((name) => ["--package", name]);
  const options = ["--binaries", bin, "--images", archives, ...required, ...further];
  await execute("nice", ["-n", "15", imageScript, ...options, output], { maxBuffer: 64 * 1024 * 1024 });
}
