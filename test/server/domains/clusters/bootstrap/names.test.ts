import fc from "fast-check";
import { test } from "tap";
import { parseInstanceType } from "../../../../../server/domains/clusters/bootstrap/instance-type.ts";
import {
  assertClusterName,
  assertControlPlaneCount,
  assertPoolCount,
  assertPoolName,
} from "../../../../../server/domains/clusters/bootstrap/names.ts";
import { codePoint } from "../../../../code-point.ts";
import { violationOf } from "./violation-of.ts";

const bad = [
  ...["-a", "a-", "-", "A", "a.b", "a_b", "a b", " a", "é", "a\n", "a\0", "a/b", "..", "../a", "a:b", "~"],
  ...["$(reboot)", "`id`", "a;b", "a'b", 'a"b', "a: b", "#a", "&a", "*a", "!a", "{a}", "[a]", "a|b", "%a"],
];

test("names of clusters and pools are DNS labels", async (t) => {
  for (const assertName of [assertClusterName, assertPoolName]) {
    for (const name of ["a", "0", "prod", "a-b", "a--b", "7-of-9", "null", "true", "a".repeat(40)]) {
      t.equal(
        violationOf(() => assertName(name, "name")),
        undefined,
        name,
      );
    }
    for (const name of bad) {
      t.match(
        violationOf(() => assertName(name, "name")),
        /RFC 1123/,
        JSON.stringify(name),
      );
    }
    t.equal(
      violationOf(() => assertName("", "name")),
      "name: must not be empty",
    );
    t.equal(
      violationOf(() => assertName("a".repeat(41), "name")),
      "name: must be at most 40 characters long, is 41",
    );
  }
});

test("no accepted name has a special meaning in YAML, a shell or a path", async () => {
  const names = fc.oneof(
    fc.string({ maxLength: 4 }),
    fc.string({ unit: codePoint, maxLength: 4 }),
    fc.string({ unit: fc.constantFrom(..."a0-./"), maxLength: 6 }),
  );
  fc.assert(
    fc.property(names, (name) => {
      const isRefused = violationOf(() => assertClusterName(name, "name")) !== undefined;
      return isRefused || /^(?!-)[a-z0-9-]+(?<!-)$/.test(name);
    }),
    { numRuns: 2000 },
  );
});

test("a control plane has 1, 3 or 5 machines", async (t) => {
  for (const count of [1, 3, 5]) {
    t.equal(
      violationOf(() => assertControlPlaneCount(count, "count")),
      undefined,
    );
  }
  for (const count of [-1, 0, 2, 4, 6, 7, 1.5, Number.NaN]) {
    t.equal(
      violationOf(() => assertControlPlaneCount(count, "control_plane_nodes.count")),
      `control_plane_nodes.count: expected 1, 3 or 5 machines, got ${count}`,
    );
  }
});

test("a pool has between one machine and the maximum of Kubernetes", async (t) => {
  for (const count of [1, 5000]) {
    t.equal(
      violationOf(() => assertPoolCount(count, "count")),
      undefined,
    );
  }
  for (const count of [0, -1, -2147483648, 5001, 0.5, Number.NaN]) {
    t.match(
      violationOf(() => assertPoolCount(count, "count")),
      /1 to 5000/,
    );
  }
});

test("machines are standard or gpu", async (t) => {
  t.equal(parseInstanceType("standard", "instanceType"), "standard");
  t.equal(parseInstanceType("gpu", "instanceType"), "gpu");
  for (const text of ["", "GPU", "large", "standard ", "toString"]) {
    t.equal(
      violationOf(() => parseInstanceType(text, "instanceType")),
      "instanceType: expected standard or gpu",
    );
  }
});
