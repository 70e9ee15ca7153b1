import tap, { test } from "tap";
import { kubernetesSkipReason } from "../kubernetes/kubernetes.ts";
import { machinesSkipReason } from "./kubernetes-machines.ts";
import { runClustersLab } from "./run-clusters-lab.ts";

const timeout = 14_400_000;
tap.setTimeout(timeout);

test(
  "machines boot with the gateway's user data and form a cluster",
  {
    skip: kubernetesSkipReason() || machinesSkipReason("container"),
    timeout,
  },
  (t) =>
    runClustersLab(t, {
      kind: "container",
      version: process.env.KUBELAB_VERSION ?? "1.36.3",
      earlier: process.env.KUBELAB_EARLIER_VERSION ?? "1.35.4",
      cases: process.env.KUBELAB_CASES,
      timeoutMs: timeout,
    }),
);
