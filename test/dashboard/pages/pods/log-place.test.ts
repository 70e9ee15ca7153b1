import fc from "fast-check";
import { test } from "tap";
import { createLogPlace } from "../../../../dashboard/pages/pods/log-place.ts";

const at = (seconds: number) => new Date(seconds * 1000).toISOString().replace(".000", "");

test("the position is unknown before the first line, and the second of the newest line after it", async (t) => {
  const place = createLogPlace();
  t.equal(place.sinceSeconds, undefined);
  place.take([`${at(100)} a`, `${at(101)} b`, "of no time"]);
  t.equal(place.sinceSeconds, 101n);
});

test("cutting the connection anywhere, repeatedly, neither drops nor repeats lines", async () => {
  const log = fc.array(fc.record({ pause: fc.constantFrom(0, 0.25, 1), word: fc.constantFrom("a", "b") }), {
    maxLength: 40,
  });
  const cuts = fc.array(fc.nat(10), { maxLength: 20 });
  fc.assert(
    fc.property(log, cuts, (printed, sizes) => {
      let second = 1_700_000_000;
      const lines = printed.map(({ pause, word }) => {
        second += pause;
        return { second, text: `${at(second)} ${word}` };
      });
      const place = createLogPlace();
      const taken: string[] = [];
      // The last connection is not cut.
      for (const size of [...sizes, Number.POSITIVE_INFINITY]) {
        place.reconnect();
        const { sinceSeconds } = place;
        const reported = lines.filter(
          (line) => sinceSeconds === undefined || line.second >= Number(sinceSeconds),
        );
        for (const { text } of reported.slice(0, size)) {
          taken.push(...place.take([text]));
        }
      }
      return JSON.stringify(taken) === JSON.stringify(lines.map(({ text }) => text));
    }),
  );
});
