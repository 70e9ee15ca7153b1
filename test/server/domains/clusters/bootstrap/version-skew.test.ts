import { test } from "tap";
import { parseKubernetesVersion } from "../../../../../server/domains/clusters/bootstrap/kubernetes-version.ts";
import {
  joinRefusal,
  upgradeRefusal,
} from "../../../../../server/domains/clusters/bootstrap/version-skew.ts";

const version = (text: string) => parseKubernetesVersion(text, "version");

test("an upgrade goes up within a minor version or to the next", async (t) => {
  for (const [from, to, refusal] of [
    ["1.35.2", "1.35.9", undefined],
    ["1.35.9", "1.36.0", undefined],
    ["1.35.2", "1.35.2", "the cluster already has version 1.35.2"],
    ["1.36.0", "1.35.9", "1.35.9 is older than 1.36.0, and Kubernetes cannot be downgraded"],
    ["1.36.3", "1.36.2", "1.36.2 is older than 1.36.3, and Kubernetes cannot be downgraded"],
    ["1.34.1", "1.36.0", "upgrading from 1.34.1 to 1.36.0 would skip a minor version; upgrade to 1.35 first"],
  ] as const) {
    t.equal(upgradeRefusal(version(from), version(to)), refusal, `${from} to ${to}`);
  }
});

test("a node is not newer than the control plane, and not too much older", async (t) => {
  for (const [node, server, refusal] of [
    ["1.36.3", "1.36.3", undefined],
    ["1.36.1", "1.36.3", undefined],
    ["1.33.0", "1.36.3", undefined],
    ["1.27.0", "1.30.14", undefined],
    ["1.22.0", "1.24.0", undefined],
    ["1.36.3", "1.36.2", "node version 1.36.3 is newer than the control plane's 1.36.2"],
    [
      "1.32.9",
      "1.36.0",
      "node version 1.32.9 is more than 3 minor versions older than the control plane's 1.36.0",
    ],
    [
      "1.24.0",
      "1.27.0",
      "node version 1.24.0 is more than 2 minor versions older than the control plane's 1.27.0",
    ],
    [
      "1.30.14",
      "1.31.0",
      "kubeadm 1.30.14 cannot read the configuration of a control plane with version 1.31.0",
    ],
  ] as const) {
    t.equal(joinRefusal(version(node), version(server)), refusal, `${node} to ${server}`);
  }
});
