import fc from "fast-check";
import { test } from "tap";
import { nsFromRfc3339, secondsFromNs } from "../../../../adapters/podman/parse/parse-time.ts";

const ns = fc.bigInt({ min: 0n, max: 4_000_000_000_999_999_999n });

test("parses times to the nanosecond, in any time zone", async (t) => {
  t.equal(nsFromRfc3339("2026-11-20T23:44:53.341376132Z"), 1_795_218_293_341_376_132n);
  t.equal(nsFromRfc3339("2026-11-20T23:44:53.5Z"), 1_795_218_293_500_000_000n);
  t.equal(nsFromRfc3339("2026-11-21T00:44:53+01:00"), 1_795_218_293_000_000_000n);
  t.equal(nsFromRfc3339("2026-11-21T00:44:53.000000001+01:00"), 1_795_218_293_000_000_001n);
  fc.assert(
    fc.property(ns, (time) => {
      const whole = new Date(Number(time / 1_000_000_000n) * 1000).toISOString().slice(0, 19);
      const fraction = String(time % 1_000_000_000n).padStart(9, "0");
      return nsFromRfc3339(`${whole}.${fraction}Z`) === time;
    }),
  );
});

test("the zero time and invalid times are undefined", async (t) => {
  t.equal(nsFromRfc3339("0001-01-01T00:00:00Z"), undefined);
  fc.assert(
    fc.property(fc.string(), (text) => {
      return nsFromRfc3339(text) === undefined;
    }),
  );
  t.equal(nsFromRfc3339("2026-13-40T99:44:53Z"), undefined);
});

test("a query has seconds with all nine digits", async (t) => {
  t.equal(secondsFromNs(1_795_218_293_000_000_001n), "1795218293.000000001");
  fc.assert(
    fc.property(ns, (time) => {
      const [seconds, fraction] = secondsFromNs(time).split(".");
      return BigInt(`${seconds}${fraction}`) === time && fraction?.length === 9;
    }),
  );
});
