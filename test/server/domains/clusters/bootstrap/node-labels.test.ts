import fc from "fast-check";
import { test } from "tap";
import { assertLabels, nodeLabelsOf } from "../../../../../server/domains/clusters/bootstrap/node-labels.ts";
import { violationOf } from "./violation-of.ts";

const violationOfName = (name: string) => violationOf(() => assertLabels([{ name, value: "a" }], "labels"));
const violationOfValue = (value: string) => violationOf(() => assertLabels([{ name: "a", value }], "labels"));

test("labels accepted by Kubernetes are accepted", async (t) => {
  for (const name of [
    ...["a", "A.b_c-9", "team", "example.com/team", "a.b.c/d", "a".repeat(63), `${"a".repeat(63)}.com/x`],
  ]) {
    t.equal(violationOfName(name), undefined, name);
  }
  for (const name of [
    ...[
      "",
      "-a",
      "a-",
      "a b",
      "a,b",
      "a=b",
      "a/b/c",
      "/a",
      "a/",
      "A.com/a",
      "-a/b",
      "a".repeat(64),
      "é",
      "a\n",
    ],
    ...["a:b", "$(a)", "`a`", "a'", 'a"', "../a", "../../a", "{a}", `${"a.".repeat(127)}/x`],
  ]) {
    t.match(violationOfName(name), /^labels\[0\]\.name: /, JSON.stringify(name));
  }
  for (const value of ["", "a", "1", "true", "A.b_c-9", "a".repeat(63)]) {
    t.equal(violationOfValue(value), undefined, value);
  }
  for (const value of [
    "-a",
    "a-",
    "a b",
    "a,b",
    "a=b",
    "a/b",
    "a".repeat(64),
    "é",
    "a\n",
    "$(a)",
    "a:",
    " ",
  ]) {
    t.match(violationOfValue(value), /^labels\[0\]\.value: /, JSON.stringify(value));
  }
});

test("of Kubernetes' own labels only those that a kubelet may set on its node are accepted", async (t) => {
  for (const name of [
    "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
    "node.kubernetes.io/purpose",
    "gpu.node.kubernetes.io/model",
    "kubelet.kubernetes.io/x",
    "notkubernetes.io/x",
    "kubernetes.io.example.com/x",
  ]) {
    t.equal(violationOfName(name), undefined, name);
  }
  for (const name of [
    "node-role.kubernetes.io/worker",
    "node-restriction.kubernetes.io/x",
    "kubernetes.io/x",
    "example.kubernetes.io/x",
    "k8s.io/x",
    "controller-tools.k8s.io/x",
    "topology.kubernetes.io/rack",
    "my-node.kubernetes.io/x",
  ]) {
    t.match(violationOfName(name), /of the labels in kubernetes.io and k8s.io, a node may only set/, name);
  }
});

test("labels that every node gets anyway are rejected", async (t) => {
  for (const name of [
    "kubernetes.io/hostname",
    "kubernetes.io/os",
    "kubernetes.io/arch",
    "node.kubernetes.io/instance-type",
    "beta.kubernetes.io/instance-type",
    "node-pool",
  ]) {
    t.equal(violationOfName(name), "labels[0].name: is set on every node automatically", name);
  }
});

test("duplicate labels and too many labels are rejected", async (t) => {
  const labels = Array.from({ length: 64 }, (_, index) => ({ name: `a${index}`, value: "b" }));
  t.equal(
    violationOf(() => assertLabels(labels, "labels")),
    undefined,
  );
  t.equal(
    violationOf(() => assertLabels([...labels, { name: "b", value: "" }], "labels")),
    "labels: expected at most 64 labels, got 65",
  );
  t.equal(
    violationOf(() => assertLabels([...labels.slice(0, 3), { name: "a1", value: "" }], "labels")),
    "labels[3].name: is a duplicate",
  );
});

test("accepted labels cannot affect the kubelet's argument beyond their own value", async () => {
  const text = fc.oneof(
    fc.string({ maxLength: 4 }),
    fc.string({ unit: fc.constantFrom(..."aA0-_./=, '\"\n"), maxLength: 6 }),
  );
  fc.assert(
    fc.property(text, text, (name, value) => {
      const isRefused = violationOf(() => assertLabels([{ name, value }], "labels")) !== undefined;
      return isRefused || !/[\s,='"\\$`]/.test(`${name}${value}`);
    }),
    { numRuns: 2000 },
  );
});

test("a node gets labels for its type and pool", async (t) => {
  const team = { name: "team", value: "red" };
  t.same(nodeLabelsOf([team], "gpu", "batch"), [
    team,
    { name: "node.kubernetes.io/instance-type", value: "gpu" },
    { name: "beta.kubernetes.io/instance-type", value: "gpu" },
    { name: "node-pool", value: "batch" },
  ]);
  t.same(
    nodeLabelsOf([], "standard", undefined).map(({ name }) => name),
    ["node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type"],
  );
});
