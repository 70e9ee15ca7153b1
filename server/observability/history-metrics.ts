import { Gauge, type Registry } from "@prometheus-io/client";

/** The history's functions that its metrics need. */
export interface MeasuredHistory {
  bytes(): number;
  seriesCount(): number;
}

/** Registers the size of the history. */
export function createHistoryMetrics(registry: Registry, { bytes, seriesCount }: MeasuredHistory): void {
  const registers = [registry];
  new Gauge({
    name: "hostplane_history_bytes",
    help: "Memory of the history, which history.maxBytes limits.",
    registers,
    collect() {
      this.set(bytes());
    },
  });
  new Gauge({
    name: "hostplane_history_series",
    help: "Series of the history: states and figures of resources, device classes and systems.",
    registers,
    collect() {
      this.set(seriesCount());
    },
  });
}
