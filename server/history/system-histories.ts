import { createRingSeries, type RingSeries } from "./ring-series.ts";
import type { FigureUnit, SampledSystem } from "./sampled-resource.ts";

/** The figures of device classes and systems: one value a tick. */
export interface SystemHistories {
  /** Writes the figures of a source. Figures that it does not have now become unknown. */
  record(source: number, tick: number, systems: readonly SampledSystem[]): void;
  /** Drops figures that were last known before a tick. Returns the bytes of their arrays. */
  dropBefore(tick: number): number;
  read(name: string): SystemHistory | undefined;
  /** All names, sorted. */
  names(): readonly string[];
  seriesCount(): number;
  /** Copies everything for a file. */
  dump(from: number, to: number): readonly SystemDump[];
  /** Adds what `dump` returned to empty histories. */
  restore(dump: SystemDump): void;
}

export interface SystemHistory {
  readonly source: number;
  readonly figures: readonly SystemFigure[];
}

interface SystemFigure {
  readonly name: string;
  readonly unit: FigureUnit;
  readonly ring: RingSeries;
}

export interface SystemDump {
  readonly name: string;
  readonly source: number;
  readonly figure: string;
  readonly unit: FigureUnit;
  readonly fromTick: number;
  /** From `fromTick` on, one a tick; NaN is unknown. */
  readonly values: Float64Array;
}

/**
 * @param ticks number of ticks that are kept
 * @param makeRoom called with the bytes of a new array; if it returns false, the value is not kept
 */
export function createSystemHistories(ticks: number, makeRoom: (bytes: number) => boolean): SystemHistories {
  const systems = new Map<string, { readonly source: number; readonly figures: Map<string, SystemFigure> }>();

  function ringOf(source: number, system: string, name: string, unit: FigureUnit): RingSeries {
    const entry = systems.get(system) ?? { source, figures: new Map<string, SystemFigure>() };
    systems.set(system, entry);
    const known = entry.figures.get(name) ?? { name, unit, ring: createRingSeries(ticks, makeRoom) };
    entry.figures.set(name, known);
    return known.ring;
  }

  return {
    record(source, tick, sampled) {
      for (const { name: system, figures } of sampled) {
        for (const { name, unit, value } of figures) {
          ringOf(source, system, name, unit).write(tick, value);
        }
      }
    },
    dropBefore(tick) {
      let bytes = 0;
      for (const [system, { figures }] of systems) {
        for (const [name, { ring }] of figures) {
          if (ring.lastTick() < tick) {
            figures.delete(name);
            bytes += ring.bytes();
          }
        }
        if (figures.size === 0) {
          systems.delete(system);
        }
      }
      return bytes;
    },
    read(name) {
      const system = systems.get(name);
      return system && { source: system.source, figures: [...system.figures.values()] };
    },
    names: () => [...systems.keys()].toSorted(),
    seriesCount: () => [...systems.values()].reduce((sum, { figures }) => sum + figures.size, 0),
    dump: (from, to) =>
      [...systems].flatMap(([name, { source, figures }]) =>
        [...figures.values()].map(({ name: figure, unit, ring }) => ({
          name,
          source,
          figure,
          unit,
          fromTick: from,
          values: Float64Array.from({ length: to - from }, (_, index) => ring.at(from + index)),
        })),
      ),
    restore({ name, source, figure, unit, fromTick, values }) {
      const ring = ringOf(source, name, figure, unit);
      values.forEach((value, index) => {
        if (!Number.isNaN(value)) {
          ring.write(fromTick + index, value);
        }
      });
    },
  };
}
