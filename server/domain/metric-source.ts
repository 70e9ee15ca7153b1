/** A Prometheus gauge of a domain. */
export interface MetricFamily {
  /** With its unit: `hostplane_device_class_free_bytes`. */
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
}

/** The value of one series. */
export interface MetricSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Gauges that a domain contributes to `/metrics`. A domain may have several sources. */
export interface MetricSource {
  readonly families: readonly MetricFamily[];
  /** Returns all series of the families, from the state that reads are answered from. @throws InfraError if there is none */
  read(signal: AbortSignal): Promise<readonly MetricSample[]>;
}
