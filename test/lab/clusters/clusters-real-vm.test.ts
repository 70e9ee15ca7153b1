import tap, { test } from "tap";
import { kubernetesSkipReason } from "../kubernetes/kubernetes.ts";
import { machinesSkipReason } from "./kubernetes-machines.ts";
import { runClustersLab } from "./run-clusters-lab.ts";

const timeout = 21_600_000;
tap.setTimeout(timeout);

test(
  "emulated machines boot the documented image with its own kernel and form a cluster",
  {
    skip: kubernetesSkipReason() || machinesSkipReason("vm"),
    timeout,
  },
  (t) =>
    runClustersLab(t, {
      kind: "vm",
      version: process.env.KUBELAB_VERSION ?? "1.36.3",
      earlier: process.env.KUBELAB_EARLIER_VERSION ?? "",
      cases: process.env.KUBELAB_CASES ?? "create,pods,scale,reboot,delete",
      timeoutMs: timeout,
    }),
);
