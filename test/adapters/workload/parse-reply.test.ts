import fc from "fast-check";
import { test } from "tap";
import { quotedWords } from "../../../adapters/workload/errors.ts";
import { bootPlanFrom } from "../../../adapters/workload/fake/boot-plan.ts";
import {
  parseConfigMap,
  parseContainers,
  parseMembers,
  parseNode,
  parseNodes,
  parsePods,
  parseRefusal,
  parseVersion,
} from "../../../adapters/workload/parse-reply.ts";
import { imageOfVersion } from "../../../adapters/workload/set-version.ts";
import { codePoint } from "../../code-point.ts";
import { reasonOfCall } from "../host/reason-of.ts";

const parsers = [
  parseConfigMap,
  parseContainers,
  parseMembers,
  parseNode,
  parseNodes,
  parsePods,
  parseVersion,
];

test("any reply of a cluster is parsed or rejected", async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), async (value) => {
      for (const parse of parsers) {
        t.ok([undefined, "WORKLOAD_FAILED"].includes(await reasonOfCall(() => parse(value))));
      }
    }),
    { numRuns: 50 },
  );
});

test("the message of any refusal is one short line", async (t) => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: codePoint }), fc.json()), fc.integer(), (text, status) => {
      t.equal(parseRefusal(status, text).status, status);
      t.notMatch(quotedWords(text), /[\p{Cc}\n]/u);
      t.ok(quotedWords(text.repeat(100)).length <= 300);
    }),
    { numRuns: 100 },
  );
});

test("parses a node with few fields", async (t) => {
  const bare = { metadata: { name: "node1" } };
  t.match(parseNode(bare), {
    name: "node1",
    isReady: false,
    readyReason: "",
    kubeletVersion: "",
    isCordoned: false,
    addresses: [],
    createdAtMs: 0,
  });
  const status = {
    conditions: [
      { type: "DiskPressure", status: "True" },
      { type: "Ready", status: "Unknown", reason: "NodeStatusUnknown", message: null },
    ],
    addresses: [
      { type: "Hostname", address: "node1" },
      { type: "InternalIP", address: "2001:db8::1" },
    ],
    nodeInfo: { kubeletVersion: "v1.36.3" },
  };
  const metadata = { name: "node1", creationTimestamp: "2026-11-21T12:00:00Z", labels: { a: "b" } };
  t.match(parseNodes({ items: [{ metadata, spec: { unschedulable: true }, status }] })[0], {
    isReady: undefined,
    readyMessage: "",
    kubeletVersion: "1.36.3",
    isCordoned: true,
    addresses: ["2001:db8::1"],
    createdAtMs: Date.UTC(2026, 10, 21, 12),
  });
  t.same(parseNodes({ items: null }), []);
});

test("text written by a kubelet becomes one short line without passwords", async (t) => {
  const message = `network not ready:\n\u001b[31m\0failed to pull https://user:hidden@registry.example.org/cni ${"x y ".repeat(1e5)}`;
  const conditions = [{ type: "Ready", status: "False", reason: "Kubelet\nNotReady", message }];
  const node = parseNode({ metadata: { name: "node1" }, status: { conditions } });
  t.equal(node.readyReason, "Kubelet NotReady");
  t.match(
    node.readyMessage,
    /^network not ready: \[31m failed to pull https:\/\/…@registry.example.org\/cni x y .*…$/,
  );
  t.equal(node.readyMessage.length, 300);
});

test("pods that need not leave a node are distinguished from those that must", async (t) => {
  const pod = (more: object, phase = "Running") => ({
    metadata: { name: "web", namespace: "default", uid: "1", ...more },
    status: { phase },
  });
  const owned = (kind: string, controller: boolean) => ({ ownerReferences: [{ kind, controller }] });
  const items = [
    pod({}),
    pod(owned("ReplicaSet", true)),
    pod(owned("DaemonSet", false)),
    pod({ deletionTimestamp: "2026-11-21T12:00:00Z" }),
    pod({}, "Pending"),
    pod(owned("DaemonSet", true)),
    pod({ annotations: { "kubernetes.io/config.mirror": "x" } }),
    pod({}, "Succeeded"),
    pod({}, "Failed"),
  ];
  const pods = parsePods({ items });
  t.same(
    pods.map(({ hasToLeave }) => hasToLeave),
    [true, true, true, true, true, false, false, false, false],
  );
  t.same(
    pods.map(({ isLeaving }) => isLeaving),
    [false, false, false, true, false, false, false, false, false],
  );
});

test("an image gets another tag, whatever its registry", async (t) => {
  t.equal(
    imageOfVersion("registry.k8s.io/kube-proxy:v1.35.4", "v1.36.3"),
    "registry.k8s.io/kube-proxy:v1.36.3",
  );
  t.equal(imageOfVersion("10.20.0.2:5000/k8s/kube-proxy", "v1"), "10.20.0.2:5000/k8s/kube-proxy:v1");
  t.equal(imageOfVersion(`kube-proxy:v1.35.4@sha256:${"0".repeat(64)}`, "v1.36.3"), "kube-proxy:v1.36.3");
});

test("unusable user data is rejected or ignored", async (t) => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      try {
        t.equal(bootPlanFrom(`#cloud-config\n${text}`), undefined);
      } catch (error) {
        t.ok(error instanceof Error);
      }
    }),
    { numRuns: 100 },
  );
});
