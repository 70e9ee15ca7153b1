import type { Histogram, Registry } from "@prometheus-io/client";

/** One series of a histogram. */
export interface DurationSeries {
  observe(seconds: number): void;
}

/**
 * A histogram of durations for what happens on every call. The library's own makes a text of the labels, and looks that
 * up, for each observation; here a series is found once and then counts in place.
 * @param bucketsSeconds upper bounds, the smallest first
 * @returns makes the series with these labels; asked for once for each, as another of the same labels would be another line
 */
export function createDurationHistogram<Label extends string>(
  { name, help, bucketsSeconds }: { name: string; help: string; bucketsSeconds: readonly number[] },
  registry: Registry,
): (labels: Readonly<Record<Label, string>>) => DurationSeries {
  const all: { readonly labels: Readonly<Record<Label, string>>; counts: number[]; sumSeconds: number }[] =
    [];

  /** As the text format has them: each bucket counts what is in those below it too. */
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
  // Of a metric the registry takes what is there; its type knows the library's own classes alone.
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
