import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import tap, { test } from "tap";
import { kubernetesSkipReason } from "./kubernetes.ts";
import { buildKubernetesImage, type KubernetesImage } from "./kubernetes-image.ts";
import { addressPrefix, machineScript, machinesSkipReason } from "./kubernetes-machines.ts";

const timeout = 14_400_000;
tap.setTimeout(timeout);

const cases = fileURLToPath(new URL("clusters-real-cases.ts", import.meta.url));
const execute = promisify(execFile);

/** The newest version, and the previous minor version, from which the upgrade starts; empty: no upgrade. */
const version = process.env.KUBELAB_VERSION ?? "1.36.3";
const earlier = process.env.KUBELAB_EARLIER_VERSION ?? "1.35.4";

test("machines boot with the gateway's user data and form a cluster", {
  skip: kubernetesSkipReason() || machinesSkipReason(),
  timeout,
}, async (t) => {
  const images: KubernetesImage[] = [await buildKubernetesImage(version, earlier === "" ? [] : [earlier])];
  if (earlier !== "") {
    images.push(await buildKubernetesImage(earlier));
  }
  const directory = await mkdtemp(join(tmpdir(), "hostplane-kubelab-"));
  const env = {
    ...process.env,
    KUBELAB_DIR: directory,
    KUBELAB_PREFIX: addressPrefix,
    KUBELAB_OWNER_PID: String(process.pid),
    KUBELAB_IMAGES: JSON.stringify(images),
  };
  t.teardown(async () => {
    await execute(machineScript, ["destroy"], { env });
    await rm(directory, { recursive: true, force: true });
  });
  await execute(machineScript, ["lan"], { env });
  // The gateway, MAAS and the tests run in the machines' network, which the host cannot reach.
  await t.spawn(
    machineScript,
    ["in-lan", process.execPath, cases],
    { env, timeout },
    "in the machines' network",
  );
});
