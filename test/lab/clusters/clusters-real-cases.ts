import tap, { type Test, test } from "tap";
import {
  addPool,
  changeScale,
  createFirst,
  queryPods,
  removeFirst,
  upgrade,
} from "./clusters-real-changes.ts";
import {
  killGateway,
  loseControlPlaneMachine,
  loseWorker,
  rebootMachines,
  spoilImage,
} from "./clusters-real-failures.ts";
import { type ClustersLab, startClustersLab } from "./clusters-real-lab.ts";

/**
 * A program that run-clusters-lab.ts runs in the machines' network. Each case leaves the cluster settled for the next one.
 * Variables: KUBELAB_KIND (`container` or `vm`), KUBELAB_DIR, KUBELAB_IMAGES (newest first), KUBELAB_CASES (names;
 * default: all).
 */
const timeout = 14_400_000;
tap.setTimeout(timeout);

const cases: Readonly<Record<string, readonly [string, (t: Test, lab: ClustersLab) => Promise<void>]>> = {
  create: ["one control plane and two workers become a cluster", createFirst],
  pods: ["pods respond through a service across nodes", queryPods],
  scale: ["a pool grows and shrinks", changeScale],
  pool: ["a pool is added and deleted", addPool],
  upgrade: ["an upgrade by a minor version keeps pods running", upgrade],
  worker: ["a dead worker is reported, and replaced when it is marked as broken in MAAS", loseWorker],
  image: ["a machine with an incomplete image fails within a minute and never joins", spoilImage],
  reboot: ["every machine reboots", rebootMachines],
  kill: ["the gateway is killed at ten points in a machine's life", killGateway],
  delete: ["a deleted cluster leaves no machine", removeFirst],
  three: [
    "a control plane of three survives the loss of the machine with its address",
    loseControlPlaneMachine,
  ],
};

// If the test that runs this is killed, the lab is destroyed, and nothing is left to test.
const parent = process.ppid;
setInterval(() => process.ppid !== parent && process.exit(1), 500).unref();

const chosen = process.env.KUBELAB_CASES?.split(",") ?? Object.keys(cases);

test("clusters of real machines", { timeout }, async (t) => {
  const kind = process.env.KUBELAB_KIND === "vm" ? "vm" : "container";
  const lab = await startClustersLab(t, {
    kind,
    directory: process.env.KUBELAB_DIR ?? "",
    images: JSON.parse(process.env.KUBELAB_IMAGES ?? "[]"),
    machines: 8,
    patienceMs: kind === "vm" ? 3_600_000 : 900_000,
  });
  await lab.start();
  for (const [name, [title, run]] of Object.entries(cases)) {
    if (chosen.includes(name)) {
      await t.test(title, { timeout: 3_600_000 }, (t) => run(t, lab));
    }
  }
});
