import fc from "fast-check";
import { test } from "tap";
import { kept } from "../../../adapters/restic/keep.ts";

// Created with `restic backup --time` and evaluated with `restic forget --dry-run` of 0.14.0, in local time as here.
const created = [
  ...["2025-12-28T08:00", "2025-12-29T08:00", "2026-01-01T10:00", "2026-01-01T23:30", "2026-01-02T00:30"],
  ...["2026-01-04T12:00", "2026-01-05T00:10", "2026-01-11T23:59", "2026-01-12T00:01", "2026-02-10T08:00"],
];
const judged: [{ last: number; daily: number; weekly: number }, string[]][] = [
  [{ last: 0, daily: 3, weekly: 0 }, ["2026-01-11T23:59", "2026-01-12T00:01", "2026-02-10T08:00"]],
  [{ last: 0, daily: 0, weekly: 3 }, ["2026-01-11T23:59", "2026-01-12T00:01", "2026-02-10T08:00"]],
  [
    { last: 0, daily: 0, weekly: 5 },
    ["2025-12-28T08:00", "2026-01-04T12:00", "2026-01-11T23:59", "2026-01-12T00:01", "2026-02-10T08:00"],
  ],
  [{ last: 1, daily: 2, weekly: 2 }, ["2026-01-12T00:01", "2026-02-10T08:00"]],
  [{ last: 2, daily: 9, weekly: 0 }, created.filter((at) => at !== "2026-01-01T10:00")],
];

test("a policy keeps what restic keeps", (t) => {
  const moments = created.map((at) => new Date(at).getTime());
  for (const [policy, expected] of judged) {
    const names = created.filter((_at, index) => kept(moments, policy).has(moments[index] ?? 0));
    t.strictSame(names, expected, JSON.stringify(policy));
  }
  t.end();
});

test("the newest is always kept, and never more than the policy allows", (t) => {
  const moments = fc.uniqueArray(fc.integer({ min: 0, max: 2 ** 41 }), { minLength: 1 });
  const count = fc.nat(20);
  fc.assert(
    fc.property(moments, count, count, count, (all, last, daily, weekly) => {
      const names = kept(all, { last, daily, weekly });
      const isAnyKept = last + daily + weekly > 0;
      return names.size <= last + daily + weekly && names.has(Math.max(...all)) === isAnyKept;
    }),
  );
  t.end();
});
