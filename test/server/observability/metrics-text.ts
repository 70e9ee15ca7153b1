/** Parses the samples of Prometheus' text format: the value of each series, keyed by its name with labels. */
export function samplesFrom(text: string): ReadonlyMap<string, number> {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    lines.map((line) => {
      const space = line.lastIndexOf(" ");
      return [line.slice(0, space), Number(line.slice(space + 1))];
    }),
  );
}

/** Reads the metrics of a gateway. */
export async function readMetrics(url: string): Promise<ReadonlyMap<string, number>> {
  return samplesFrom(await (await fetch(`${url}/metrics`)).text());
}
