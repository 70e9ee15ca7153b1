import type { SampledSystem } from "../history/sampled-resource.ts";

/** Figures of device classes and systems that a domain contributes to the history. */
export interface FigureSource {
  readonly domain: string;
  /** Full names of the services by which the figures can be read otherwise: a caller must be allowed to call one of them. */
  readonly services: readonly string[];
  /**
   * Computes the figures from the state that the gateway has: it must not make the gateway read the system more often.
   * @throws InfraError when the system cannot be read, and for a state that is not current
   */
  read(signal: AbortSignal): Promise<readonly SampledSystem[]>;
}
