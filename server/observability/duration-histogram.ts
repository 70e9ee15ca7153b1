import type { Histogram, Registry } from "@prometheus-io/client";

/** One series of a histogram. */
export interface DurationSeries {
  observe(seconds: number): void;
}

/**
 * Creates a histogram of durations for events that happen on every call. For each observation prom-client builds a text of the
 * labels and looks it up; here a series is looked up once and then counts in place.
 * @param bucketsSeconds upper bounds, in ascending order
 * @returns a function that creates the series for a set of labels. Call it once per set: a second call adds a duplicate line
 */
export function createDurationHistogram<Label extends string>(
  { name, help, bucketsSeconds }: { name: string; help: string; bucketsSeconds: readonly number[] },
  registry: Registry,
): (labels: Readonly<Record<Label, string>>) => DurationSeries {
  const all: { readonly labels: Readonly<Record<Label, string>>; counts: number[]; sumSeconds: number }[] =
    [];

  /** Returns the values in the text format: each bucket also counts those below it. */
  function valuesOf({ labels, counts, sumSeconds }: (typeof all)[number]) {
    let count = 0;
    const buckets = counts.map((ofBucket, index) => {
      count += ofBucket;
      const le = bucketsSeconds[index] ?? "+Inf";
      return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count };
    });
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: sumSeconds },
      { metricName: `${name}_count`, labels, value: count },
    ];
  }

  const metric = {
    name,
    help,
    type: "histogram",
    aggregator: "sum",
    get: async () => ({ name, help, type: "histogram", aggregator: "sum", values: all.flatMap(valuesOf) }),
  };
  // The registry accepts any object with these members; its type only knows the library's own classes.
  registry.registerMetric(metric as unknown as Histogram<Label>);

  return (labels) => {
    const series = { labels, counts: Array<number>(bucketsSeconds.length + 1).fill(0), sumSeconds: 0 };
    all.push(series);
    return {
      observe(seconds) {
        let bucket = 0;
        while (seconds > (bucketsSeconds[bucket] ?? Number.POSITIVE_INFINITY)) {
          bucket++;
        }
        series.counts[bucket] = (series.counts[bucket] ?? 0) + 1;
        series.sumSeconds += seconds;
      },
    };
  };
}
