import { Histogram, Registry } from "@prometheus-io/client";
import fc from "fast-check";
import { test } from "tap";
import { createDurationHistogram } from "../../../server/observability/duration-histogram.ts";

const name = "durations_seconds";
const help = "What took how long.";
const bucketsSeconds = [0.001, 0.5, 2.5];

test("it reports the same as a histogram of the library", async () => {
  const seconds = fc.oneof(
    fc.constantFrom(0, ...bucketsSeconds),
    fc.double({ min: 0, max: 10, noNaN: true }),
  );
  const observations = fc.array(fc.tuple(fc.constantFrom("OK", "INTERNAL"), seconds));
  await fc.assert(
    fc.asyncProperty(observations, async (all) => {
      const [ours, theirs] = [new Registry(), new Registry()];
      const seriesWith = createDurationHistogram<"rpc" | "code">({ name, help, bucketsSeconds }, ours);
      const library = new Histogram({
        name,
        help,
        labelNames: ["rpc", "code"] as const,
        buckets: [...bucketsSeconds],
        registers: [theirs],
      });
      const series = new Map<string, ReturnType<typeof seriesWith>>();
      for (const [code, took] of all) {
        const one = series.get(code) ?? seriesWith({ rpc: "a/b", code });
        series.set(code, one);
        one.observe(took);
        library.observe({ rpc: "a/b", code }, took);
      }
      return (await Registry.merge([ours]).metrics()) === (await Registry.merge([theirs]).metrics());
    }),
  );
});
