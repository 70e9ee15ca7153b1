/** A resource of the inventory, as far as its history is kept. */
export interface SampledResource {
  /** Unique in the gateway. */
  readonly name: string;
  readonly state: string;
  readonly health: "ok" | "degraded" | "failed" | "unknown";
  readonly figures: readonly SampledFigure[];
}

/** A number with its unit. An empty unit is a count. */
export interface SampledFigure {
  readonly name: string;
  readonly value: number;
  readonly unit: FigureUnit;
}

export type FigureUnit =
  | "bytes"
  | "percent"
  | "seconds"
  | "bytes_per_second"
  | "per_second"
  | "milliseconds"
  | "";

/** The figures of a device class, or of a whole system. A figure that is not known at the moment is absent. */
export interface SampledSystem {
  /** Such as `deviceClasses/ssd`. A system that is also a resource has the same name. */
  readonly name: string;
  readonly figures: readonly SampledFigure[];
}
