import fc from "fast-check";
import { test } from "tap";
import type { CephPool } from "../../../../../adapters/ceph/adapter.ts";
import {
  type ReliabilityInput,
  reliability,
} from "../../../../../server/domains/storage/radar/reliability.ts";

const nowMs = Date.parse("2026-11-21T12:00:00Z");
const dayMs = 24 * 3_600_000;

const pool: CephPool = {
  id: 1,
  name: "images",
  kind: "replicated",
  size: 3,
  minSize: 2,
  redundancy: 2,
  pgCount: 32,
  failureDomain: { type: "host", count: 3 },
  applications: ["rbd"],
  quotaBytes: undefined,
  quotaObjects: undefined,
  usage: undefined,
};

const best: ReliabilityInput = {
  pools: [pool],
  mons: { names: ["a", "b", "c"], quorum: ["a", "b", "c"], mapCreatedAtMs: 0, mapModifiedAtMs: 0 },
  mgrs: { active: "a", standbys: ["b"], activeChangedAtMs: 0 },
  scrubs: [{ poolId: 1, oldestScrubAtMs: nowMs - dayMs, oldestDeepScrubAtMs: nowMs - 6 * dayMs }],
};

const scoreOf = (change: Partial<ReliabilityInput>) => reliability({ ...best, ...change }, nowMs);
const ofPool = (change: Partial<CephPool>) => scoreOf({ pools: [{ ...pool, ...change }] });
const replicated = (size: number, minSize: number) => ({ size, minSize, redundancy: size - 1 });
const scrubbedDaysAgo = (scrub: number, deep: number) => ({
  scrubs: [{ poolId: 1, oldestScrubAtMs: nowMs - scrub * dayMs, oldestDeepScrubAtMs: nowMs - deep * dayMs }],
});

test("a fully redundant and scrubbed cluster has all points", async (t) => {
  t.same(scoreOf({}), { value: 100, because: [] });
});

test("a pool that tolerates little loses points", async (t) => {
  t.match(ofPool(replicated(2, 1)), {
    value: 75,
    because: ["pool/images tolerates=1 -15", "pool/images min_size=1 is too low -10"],
  });
  t.match(ofPool(replicated(2, 2)), {
    value: 80,
    because: ["pool/images tolerates=1 -15", "pool/images min_size=2 stops at one loss -5"],
  });
  t.equal(ofPool(replicated(1, 1)).value, 45);
  t.match(ofPool({ failureDomain: { type: "osd", count: 9 } }), {
    value: 90,
    because: ["pool/images failure_domain=osd -10"],
  });
  t.match(ofPool({ failureDomain: { type: "host", count: 2 } }), {
    value: 80,
    because: ["pool/images tolerates=1 -15", "pool/images min_size=2 stops at one loss -5"],
  });
  t.equal(
    ofPool({ kind: "erasure", size: 6, minSize: 5, redundancy: 2, failureDomain: { type: "host", count: 6 } })
      .value,
    100,
  );
  t.equal(
    ofPool({ kind: "erasure", size: 6, minSize: 4, redundancy: 2, failureDomain: { type: "host", count: 6 } })
      .value,
    90,
    "min_size leaves no chunk to spare",
  );
});

test("unknown properties count as the worst case", async (t) => {
  t.match(ofPool({ failureDomain: undefined }), {
    value: 90,
    because: ["pool/images failure_domain=unknown -10"],
  });
  t.match(
    ofPool({
      kind: "erasure",
      size: 6,
      minSize: 5,
      redundancy: undefined,
      failureDomain: { type: "host", count: 6 },
    }),
    {
      value: 75,
    },
  );
});

test("the weakest pool counts, and pool names are escaped", async (t) => {
  const weak = { ...pool, name: "a b,ü", ...replicated(2, 1) };
  t.match(scoreOf({ pools: [pool, weak, { ...pool, ...replicated(2, 2) }] }), {
    value: 75,
    because: [/^pool\/a%20b%2C%C3%BC tolerates=1 -15$/, /./],
  });
  t.equal(scoreOf({ pools: [] }).value, 100, "without pools nothing can be lost");
});

test("monitors and managers without redundancy deduct points", async (t) => {
  const mons = (names: readonly string[], quorum: readonly string[]) =>
    scoreOf({ mons: { ...best.mons, names, quorum } });
  t.match(mons(["a"], ["a"]), { value: 85, because: ["mons tolerate=0 -15"] });
  t.equal(mons(["a", "b"], ["a", "b"]).value, 85);
  t.equal(mons(["a", "b", "c"], ["a", "c"]).value, 85);
  t.equal(mons(["a", "b", "c", "d", "e"], ["a", "b", "c", "d"]).value, 100);
  t.match(scoreOf({ mgrs: { ...best.mgrs, standbys: [] } }), { value: 95, because: ["mgr standbys=0 -5"] });
});

test("late scrubs deduct points, more the later they are", async (t) => {
  t.equal(scoreOf(scrubbedDaysAgo(7, 7)).value, 100);
  t.match(scoreOf(scrubbedDaysAgo(17.5, 1)), { value: 97.5, because: ["scrub=17.5d -2.5"] });
  t.match(scoreOf(scrubbedDaysAgo(1, 17.5)), { value: 95, because: ["deep_scrub=17.5d -5"] });
  t.equal(scoreOf(scrubbedDaysAgo(90, 90)).value, 85);
  const never = { scrubs: [{ poolId: 1, oldestScrubAtMs: undefined, oldestDeepScrubAtMs: nowMs }] };
  t.match(scoreOf(never), { value: 95, because: ["scrub=never -5"] });
  t.equal(scoreOf({ scrubs: [] }).value, 100, "nothing exists that could be scrubbed");
});

const pools: fc.Arbitrary<CephPool> = fc
  .record({
    size: fc.integer({ min: 1, max: 6 }),
    lost: fc.nat({ max: 5 }),
    minSize: fc.integer({ min: 1, max: 6 }),
    isKnown: fc.boolean(),
    domain: fc.option(
      fc.record({ type: fc.constantFrom("osd", "host", "rack"), count: fc.nat({ max: 8 }) }),
      {
        nil: undefined,
      },
    ),
  })
  .map(({ size, lost, minSize, isKnown, domain }) => ({
    ...pool,
    size,
    minSize: Math.min(minSize, size),
    redundancy: isKnown ? Math.min(lost, size - 1) : undefined,
    failureDomain: domain,
  }));
const inputs: fc.Arbitrary<ReliabilityInput> = fc.record({
  pools: fc.array(pools, { maxLength: 4 }),
  mons: fc.tuple(fc.nat({ max: 7 }), fc.nat({ max: 7 })).map(([count, down]) => {
    const names = Array.from({ length: count }, (_, index) => String(index));
    return { ...best.mons, names, quorum: names.slice(0, Math.max(0, count - down)) };
  }),
  mgrs: fc.nat({ max: 2 }).map((count) => ({ ...best.mgrs, standbys: ["b", "c"].slice(0, count) })),
  scrubs: fc
    .tuple(fc.double({ min: 0, max: 60, noNaN: true }), fc.double({ min: 0, max: 60, noNaN: true }))
    .map(([scrub, deep]) => scrubbedDaysAgo(scrub, deep).scrubs),
});

test("the score is bounded for every cluster", async () => {
  fc.assert(
    fc.property(inputs, (input) => {
      const { value } = reliability(input, nowMs);
      return value >= 0 && value <= 100;
    }),
  );
});

test("improvements never lower the score: fewer pools, more copies, hosts, monitors or standbys, newer scrubs", async () => {
  fc.assert(
    fc.property(inputs, (input) => {
      const value = reliability(input, nowMs).value;
      const better: readonly Partial<ReliabilityInput>[] = [
        { pools: input.pools.slice(1) },
        {
          pools: input.pools.map((each) => ({
            ...each,
            size: each.size + 1,
            ...(each.redundancy === undefined ? {} : { redundancy: each.redundancy + 1 }),
          })),
        },
        {
          pools: input.pools.map((each) =>
            each.failureDomain === undefined
              ? each
              : { ...each, failureDomain: { ...each.failureDomain, count: each.failureDomain.count + 1 } },
          ),
        },
        { mons: { ...input.mons, quorum: input.mons.names } },
        { mgrs: { ...input.mgrs, standbys: [...input.mgrs.standbys, "z"] } },
        scrubbedDaysAgo(0, 0),
      ];
      return better.every((change) => reliability({ ...input, ...change }, nowMs).value >= value);
    }),
  );
});
