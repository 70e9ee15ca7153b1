import { type ChangeBlock, type ChangeLog, createChangeLog, noSeries } from "./change-log.ts";
import { createEmptyShape, type FigureShape } from "./figure-shapes.ts";
import type { FigureUnit, SampledResource } from "./sampled-resource.ts";
import type { Span } from "./span.ts";
import { createStateCodes } from "./state-codes.ts";

/** The changes of single resources: of their states and figures. */
export interface ResourceHistories {
  /** Records what has changed. Returns false if there is no room for a new resource. */
  record(source: number, tick: number, resource: SampledResource): boolean;
  /** Records that the resources of a source that `record` has not seen at this tick do not exist, in steps. */
  recordMissing(source: number, tick: number): Generator<void, void>;
  /** Drops what is older than a tick, in steps. */
  dropBefore(tick: number): Generator<void, void>;
  /** Undefined for a resource without history. */
  read(name: string): ResourceHistory | undefined;
  /** Drops the oldest changes, or if there are only new ones the least recently changed resource. False if there is nothing to drop. */
  shrink(): boolean;
  /** Limits how many resources are dropped for new ones until the next call. */
  allowReplacements(count: number): void;
  bytes(): number;
  seriesCount(): number;
  /** Copies everything for a file, in parts. */
  dump(): Generator<ResourcesDump>;
  /**
   * Returns a function that adds the parts of a file, in their order, to empty histories.
   * @param numberOf returns the present number of a source of the file; undefined for one whose resources are left out
   */
  restorer(numberOf: (source: number) => number | undefined): (part: ResourcesDump) => void;
}

/** The history of one resource. The spans do not say when its system could not be read. */
export interface ResourceHistory {
  readonly source: number;
  readonly figures: readonly {
    readonly name: string;
    readonly unit: FigureUnit;
    spans(from: number, to: number): Iterable<Span>;
  }[];
  /** Values are codes for `stateOf`. */
  states(from: number, to: number): Iterable<Span>;
  stateOf(code: number): Pick<SampledResource, "state" | "health"> | undefined;
}

/** A part of a file. */
export type ResourcesDump =
  | {
      readonly part: "states";
      readonly horizonTick: number;
      readonly states: readonly Pick<SampledResource, "state" | "health">[];
    }
  | { readonly part: "resources"; readonly resources: readonly ResourceDump[] }
  | { readonly part: "changes"; readonly block: ChangeBlock };

interface ResourceDump {
  readonly name: string;
  readonly source: number;
  readonly isPresent: boolean;
  readonly figures: readonly { readonly name: string; readonly unit: FigureUnit }[];
  /** The state's series, then one of each figure, and their values at the horizon. */
  readonly series: readonly number[];
  readonly bases: readonly number[];
}

interface Entry {
  readonly name: string;
  readonly source: number;
  shape: FigureShape;
  /** The series of the state, then one of each figure of the shape. */
  readonly series: number[];
  seenTick: number;
  isPresent: boolean;
}

/** An entry, its name and its place in the map, measured with Node 26 and rounded up. */
const entryBytes = 240;
const bytesPerSeries = 8;
const resourcesPerPart = 500;

/** @param hasRoom reports whether so many bytes may be allocated */
export function createResourceHistories(hasRoom: (bytes: number) => boolean): ResourceHistories {
  const log: ChangeLog = createChangeLog(hasRoom);
  const codes = createStateCodes();
  const emptyShape = createEmptyShape();
  /** The least recently changed first. */
  const entries = new Map<string, Entry>();
  let indexBytes = 0;
  let seriesCount = 0;
  let replacements = 0;

  function bytesOf(name: string, series: number): number {
    return entryBytes + 2 * name.length + bytesPerSeries * series;
  }

  function add(entry: Entry): void {
    entries.set(entry.name, entry);
    indexBytes += bytesOf(entry.name, entry.series.length);
    seriesCount += entry.series.length;
  }

  function remove(entry: Entry): void {
    entries.delete(entry.name);
    indexBytes -= bytesOf(entry.name, entry.series.length);
    seriesCount -= entry.series.length;
    for (const series of entry.series) {
      log.removeSeries(series);
    }
  }

  function leastRecent(except?: Entry): Entry | undefined {
    for (const entry of entries.values()) {
      if (entry !== except) {
        return entry;
      }
    }
    return undefined;
  }

  /** Makes room for series and a part of the index. */
  function admit(series: number, ownBytes: number, except?: Entry): boolean {
    while (!hasRoom(ownBytes + log.bytesOfSeries(series))) {
      if (log.dropOldest()) {
        continue;
      }
      const least = replacements > 0 ? leastRecent(except) : undefined;
      if (least === undefined) {
        return false;
      }
      replacements -= 1;
      remove(least);
    }
    return true;
  }

  function entryFor(source: number, tick: number, { name, figures }: SampledResource): Entry | undefined {
    const known = entries.get(name);
    if (known !== undefined) {
      return known;
    }
    const count = 1 + figures.length;
    if (!admit(count, bytesOf(name, count))) {
      return undefined;
    }
    const shape = figures.reduce((each, figure) => each.with(figure.name, figure.unit), emptyShape);
    const series = Array.from({ length: count }, () => log.addSeries());
    const entry: Entry = { name, source, shape, series, seenTick: tick, isPresent: true };
    add(entry);
    return entry;
  }

  /** Sets the value of a figure. Adds a series for one that is new. */
  function setFigure(entry: Entry, tick: number, { name, unit, value }: SampledResource["figures"][number]) {
    let index = entry.shape.names.indexOf(name);
    if (index === -1) {
      if (!admit(1, bytesPerSeries, entry)) {
        return false;
      }
      index = entry.shape.names.length;
      entry.shape = entry.shape.with(name, unit);
      entry.series.push(log.addSeries());
      indexBytes += bytesPerSeries;
      seriesCount += 1;
    }
    return log.set(entry.series[index + 1] as number, tick, value);
  }

  function touch(entry: Entry): void {
    entries.delete(entry.name);
    entries.set(entry.name, entry);
  }

  /** @returns the new numbers of its series, in their order; none for an entry that is left out */
  function restoreEntry(saved: ResourceDump, source: number | undefined): readonly number[] {
    const { name, isPresent, figures, bases } = saved;
    if (source === undefined || !admit(bases.length, bytesOf(name, bases.length))) {
      return [];
    }
    const shape = figures.reduce((each, figure) => each.with(figure.name, figure.unit), emptyShape);
    const series = bases.map((base) => log.addSeries(base));
    add({ name, source, shape, series, seenTick: 0, isPresent });
    return series;
  }

  return {
    record(source, tick, resource) {
      const entry = entryFor(source, tick, resource);
      if (entry === undefined) {
        return false;
      }
      entry.seenTick = tick;
      entry.isPresent = true;
      let isChanged = log.set(entry.series[0] as number, tick, codes.codeOf(resource));
      for (const figure of resource.figures) {
        isChanged = setFigure(entry, tick, figure) || isChanged;
      }
      if (resource.figures.length < entry.shape.names.length) {
        entry.shape.names.forEach((name, index) => {
          const isUnknown = !resource.figures.some((figure) => figure.name === name);
          isChanged =
            (isUnknown && log.set(entry.series[index + 1] as number, tick, Number.NaN)) || isChanged;
        });
      }
      if (isChanged) {
        touch(entry);
      }
      return true;
    },
    *recordMissing(source, tick) {
      for (const entry of [...entries.values()]) {
        if (entry.source === source && entry.isPresent && entry.seenTick !== tick) {
          entry.isPresent = false;
          for (const series of entry.series) {
            log.set(series, tick, Number.NaN);
          }
          // Not touched: it is dropped before resources that changed later, and exist.
        }
        yield;
      }
    },
    *dropBefore(tick) {
      if (!log.dropBefore(tick)) {
        return;
      }
      for (const entry of [...entries.values()]) {
        if (!entry.isPresent && entry.series.every(log.isForgotten)) {
          remove(entry);
        }
        yield;
      }
    },
    read(name) {
      const entry = entries.get(name);
      if (entry === undefined) {
        return undefined;
      }
      const { source, shape, series } = entry;
      return {
        source,
        figures: shape.names.map((figure, index) => ({
          name: figure,
          unit: shape.units[index] ?? "",
          spans: (from, to) => log.spans(series[index + 1] as number, from, to),
        })),
        states: (from, to) => log.spans(series[0] as number, from, to),
        stateOf: codes.stateOf,
      };
    },
    shrink() {
      if (log.dropOldest()) {
        return true;
      }
      const least = leastRecent();
      if (least !== undefined) {
        remove(least);
      }
      return least !== undefined;
    },
    allowReplacements(count) {
      replacements = count;
    },
    bytes: () => indexBytes + log.bytes(),
    seriesCount: () => seriesCount,
    *dump() {
      yield { part: "states", horizonTick: log.horizonTick(), states: codes.all() };
      const all = [...entries.values()];
      for (let start = 0; start < all.length; start += resourcesPerPart) {
        const resources = all.slice(start, start + resourcesPerPart).map((entry) => ({
          name: entry.name,
          source: entry.source,
          isPresent: entry.isPresent,
          figures: entry.shape.names.map((name, index) => ({ name, unit: entry.shape.units[index] ?? "" })),
          series: entry.series,
          bases: entry.series.map(log.baseOf),
        }));
        yield { part: "resources", resources };
      }
      for (const block of log.changes()) {
        yield { part: "changes", block };
      }
    },
    restorer(numberOf) {
      /** Series by their numbers in the file. */
      const restored = new Map<number, number>();
      return (dump) => {
        switch (dump.part) {
          case "states":
            log.setHorizon(dump.horizonTick);
            for (const state of dump.states) {
              codes.codeOf(state);
            }
            break;
          case "resources":
            for (const saved of dump.resources) {
              for (const [index, series] of restoreEntry(saved, numberOf(saved.source)).entries()) {
                restored.set(saved.series[index] ?? noSeries, series);
              }
            }
            break;
          case "changes":
            for (const [index, number] of dump.block.series.entries()) {
              const series = restored.get(number);
              if (series !== undefined) {
                log.set(series, dump.block.ticks[index] ?? 0, dump.block.values[index] ?? Number.NaN);
              }
            }
            break;
        }
      };
    },
  };
}
