import fc from "fast-check";
import { test } from "tap";
import type { CephHealthCheck } from "../../../../../adapters/ceph/adapter.ts";
import {
  clusterHealth,
  healthWeights,
  maxWarningPoints,
} from "../../../../../server/domains/storage/radar/cluster-health.ts";
import { readPage, tableBelow } from "../../../../docs/markdown.ts";

const check = (code: string, severity: CephHealthCheck["severity"] = "HEALTH_WARN"): CephHealthCheck => ({
  code,
  severity,
  summary: code,
  count: 1,
  isMuted: false,
});

const anyCheck: fc.Arbitrary<CephHealthCheck> = fc.record({
  code: fc.constantFrom(...Object.keys(healthWeights), "SOMETHING_NEW", "constructor"),
  severity: fc.constantFrom("HEALTH_WARN", "HEALTH_ERR"),
  summary: fc.constant("words"),
  count: fc.nat(),
  isMuted: fc.boolean(),
});
const checks = fc.uniqueArray(anyCheck, { selector: ({ code }) => code, maxLength: 20 });

test("a healthy cluster has all points, and each check deducts its weight", async (t) => {
  t.same(clusterHealth([]), { value: 100, because: [] });
  t.same(clusterHealth([check("OSD_DOWN"), check("PG_DEGRADED")]), {
    value: 65,
    because: ["PG_DEGRADED -20", "OSD_DOWN -15"],
  });
  t.equal(clusterHealth([check("SOMETHING_NEW")]).value, 90);
  t.equal(clusterHealth([check("SOMETHING_NEW", "HEALTH_ERR")]).value, 50);
  t.equal(clusterHealth([check("OSD_FULL", "HEALTH_ERR"), check("OSD_DOWN")]).value, 5);
});

test("muted checks deduct nothing", async (t) => {
  t.same(clusterHealth([{ ...check("OSD_DOWN"), isMuted: true }]), { value: 100, because: [] });
});

test("warnings alone never lower a cluster to the level of an error", async (t) => {
  const many = Object.keys(healthWeights).map((code) => check(code));
  t.equal(clusterHealth(many).value, 100 - maxWarningPoints);
  t.ok(Object.values(healthWeights).every(({ error, warning }) => error >= 50 && warning <= error));
});

test("scores are bounded, and distinguish warnings from errors", async () => {
  fc.assert(
    fc.property(checks, (all) => {
      const { value } = clusterHealth(all);
      const counting = all.filter(({ isMuted }) => !isMuted);
      const hasError = counting.some(({ severity }) => severity === "HEALTH_ERR");
      const isBounded = value >= 0 && value <= 100;
      const isListed = hasError ? value <= 50 : value >= 51;
      return isBounded && isListed && (value === 100) === (counting.length === 0);
    }),
  );
});

test("more or worse checks never raise the score; muting never lowers it", async () => {
  fc.assert(
    fc.property(checks, fc.nat(), (all, at) => {
      const one = all[at % Math.max(1, all.length)];
      if (one === undefined) {
        return true;
      }
      const others = all.filter((each) => each !== one);
      const valueWith = (changed: Partial<CephHealthCheck>) =>
        clusterHealth([...others, { ...one, isMuted: false, ...changed }]).value;
      const without = clusterHealth(others).value;
      const asWarning = valueWith({ severity: "HEALTH_WARN" });
      const asError = valueWith({ severity: "HEALTH_ERR" });
      return without >= asWarning && asWarning >= asError && valueWith({ isMuted: true }) === without;
    }),
  );
});

test("the reported deductions add up to the missing points, down to 0", async () => {
  fc.assert(
    fc.property(checks, (all) => {
      const { value, because } = clusterHealth(all);
      const points = because
        .map((words) => Number(words.split(" -")[1]))
        .reduce((sum, each) => sum + each, 0);
      return value === Math.max(0, 100 - points);
    }),
  );
});

test("docs/reference/domains/stats.md has the same weights", async (t) => {
  const rows = tableBelow(readPage("docs/reference/domains/stats.md"), "### cluster_health");
  const weights = Object.entries(healthWeights).map(([code, { warning, error }]) => [
    code,
    `${warning}`,
    `${error}`,
  ]);
  t.same(rows, [...weights, ["any other", "10", "50"]]);
});
