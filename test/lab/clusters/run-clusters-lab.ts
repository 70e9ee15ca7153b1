import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Test } from "tap";
import { buildKubernetesImage, type KubernetesImage } from "./kubernetes-image.ts";
import { addressPrefix, type MachineKind, machineScriptOf } from "./kubernetes-machines.ts";

const program = fileURLToPath(new URL("clusters-real-cases.ts", import.meta.url));
const execute = promisify(execFile);

export interface ClustersLabRun {
  readonly kind: MachineKind;
  /** Version of Kubernetes, without `v`. */
  readonly version: string;
  /** Version that the upgrade starts from; empty: no upgrade. */
  readonly earlier: string;
  /** Names of cases, separated by commas; undefined: all. */
  readonly cases: string | undefined;
  readonly timeoutMs: number;
}

/** Builds the missing images, and runs cases of clusters-real-cases.ts on machines in a separate network. */
export async function runClustersLab(t: Test, run: ClustersLabRun): Promise<void> {
  const { kind, version, earlier, cases, timeoutMs: timeout } = run;
  const images: KubernetesImage[] = [
    await buildKubernetesImage(kind, version, earlier === "" ? [] : [earlier]),
  ];
  if (earlier !== "") {
    images.push(await buildKubernetesImage(kind, earlier));
  }
  const directory = await mkdtemp(join(tmpdir(), "hostplane-kubelab-"));
  const env = {
    ...process.env,
    KUBELAB_KIND: kind,
    KUBELAB_DIR: directory,
    KUBELAB_PREFIX: addressPrefix,
    KUBELAB_OWNER_PID: String(process.pid),
    KUBELAB_IMAGES: JSON.stringify(images),
    ...(cases === undefined ? {} : { KUBELAB_CASES: cases }),
  };
  const script = machineScriptOf(kind);
  t.teardown(async () => {
    await execute(script, ["destroy"], { env });
    await rm(directory, { recursive: true, force: true });
  });
  await execute(script, ["lan"], { env });
  // The gateway, MAAS and the tests run in the machines' network, which the host cannot reach.
  await t.spawn(script, ["in-lan", process.execPath, program], { env, timeout }, "in the machines' network");
}
