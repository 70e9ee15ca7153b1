import { createResourceHistories } from "./resource-histories.ts";
import { createRingSeries, type RingSeries } from "./ring-series.ts";
import type { FigureUnit, SampledResource, SampledSystem } from "./sampled-resource.ts";
import { readSavedHistory, type SavedPart, writeSavedHistory } from "./saved-history.ts";
import { intersect, type Span } from "./span.ts";
import { createSystemHistories } from "./system-histories.ts";

export interface HistoryOptions {
  /** Sampling step. */
  readonly stepMs: number;
  /** Limit of `bytes()`. */
  readonly maxBytes: number;
  /** Keeps the history over a restart; absent: it ends with the process. */
  readonly file?: string | undefined;
  /** Called when the file cannot be read or written. */
  readonly onFailed: (what: string, error: unknown) => void;
}

/** What a source had at one tick; undefined if it could not be read. */
export type Sample = SampledResources | SampledSystems | undefined;

/** The same array as long as nothing has changed. */
export interface SampledResources {
  readonly resources: readonly SampledResource[];
}

export interface SampledSystems {
  readonly systems: readonly SampledSystem[];
}

/** Figures and states of the last 24 hours, in memory. */
export interface History {
  readonly stepMs: number;
  /** Adds a source of samples, and returns its number. @param key identifies the source in the file */
  addSource(key: string): number;
  /** Reads the file, once. Sources that were not added by then are left out. */
  load(): Promise<void>;
  /** Begins a turn of samples. Returns its tick; undefined if this step has been sampled. */
  beginTurn(nowMs: number): number | undefined;
  /** Records what each source has at a tick, in steps. Turns must not overlap. */
  record(tick: number, samples: ReadonlyMap<number, Sample>): Generator<void, void>;
  /** Returns what is known of a subject, from the sources that the caller may see. Undefined if there is nothing. */
  read(name: string, isVisible: (source: number) => boolean): SubjectHistory | undefined;
  /** Names and sources of device classes and systems, sorted by name. */
  systems(): readonly { readonly name: string; readonly source: number }[];
  /** The ticks of the first turn that is kept, and of the last one; -1 if there was none. */
  firstTick(): number;
  lastTick(): number;
  /** Allocated bytes: typed arrays exactly, names and the rest of the index estimated upwards. */
  bytes(): number;
  seriesCount(): number;
  /** Writes the file if there were turns since the last time. Must not overlap a turn. */
  save(): Promise<void>;
}

/** The history of a resource, device class or system. */
export interface SubjectHistory {
  readonly figures: readonly FigureHistory[];
  states(from: number, to: number): Iterable<StateSpan>;
}

export interface FigureHistory {
  readonly name: string;
  readonly unit: FigureUnit;
  /** Whether an interval is described by the mean of its values, and not by the last one. */
  readonly isMean: boolean;
  spans(from: number, to: number): Iterable<Span>;
}

export interface StateSpan extends Omit<Span, "value"> {
  readonly state: string;
  readonly health: SampledResource["health"];
}

const keptMs = 86_400_000;
/** New resources replace at most this many known ones in a turn, which bounds its cost if there are more than fit. */
const replacementsPerTurn = 1000;

const meanUnits: ReadonlySet<FigureUnit> = new Set([
  "percent",
  "bytes_per_second",
  "per_second",
  "milliseconds",
]);

/** Starts empty; `load` adds what the file has. @param options `stepMs`: from one turn of samples to the next */
export function createHistory({ stepMs, maxBytes, file, onFailed }: HistoryOptions): History {
  const keptTicks = Math.ceil(keptMs / stepMs);
  const sources = new Map<string, number>();
  let parts = createParts();
  let first = -1;
  let last = -1;
  let isChanged = false;
  let loading: Promise<void> | undefined;

  function createParts() {
    const hasRoom = (wanted: number): boolean => bytes() + wanted <= maxBytes;
    const makeRoom = (wanted: number): boolean => {
      while (!hasRoom(wanted)) {
        if (!parts.resources.shrink()) {
          return false;
        }
      }
      parts.ringBytes += wanted;
      return true;
    };
    return {
      makeRoom,
      /** Of the rings: the sum of their arrays, counted when they are allocated. */
      ringBytes: 0,
      resources: createResourceHistories(hasRoom),
      systems: createSystemHistories(keptTicks, makeRoom),
      /** 1 for each tick at which a source was read, by source. */
      readings: new Map<number, RingSeries>(),
      /** Of the last turn, by source. */
      lastResources: new Map<number, readonly SampledResource[]>(),
    };
  }

  function bytes(): number {
    return parts.ringBytes + parts.resources.bytes();
  }

  function readingsOf(source: number): RingSeries {
    const ring = parts.readings.get(source) ?? createRingSeries(keptTicks, parts.makeRoom);
    parts.readings.set(source, ring);
    return ring;
  }

  function* recordResources(source: number, tick: number, resources: readonly SampledResource[]) {
    if (parts.lastResources.get(source) === resources) {
      return;
    }
    parts.lastResources.delete(source);
    let isComplete = true;
    for (const resource of resources) {
      isComplete = parts.resources.record(source, tick, resource) && isComplete;
      yield;
    }
    yield* parts.resources.recordMissing(source, tick);
    if (isComplete) {
      parts.lastResources.set(source, resources);
    }
  }

  function* dumpParts(): Generator<SavedPart> {
    yield { part: "header", stepMs, firstTick: first, tick: last, sources: [...sources.keys()] };
    const from = Math.max(0, last + 1 - keptTicks);
    for (const [source, ring] of parts.readings) {
      yield { part: "readings", source, spans: [...ring.spans(from, last + 1)] };
    }
    for (const system of parts.systems.dump(from, last + 1)) {
      yield { part: "system", system };
    }
    for (const resources of parts.resources.dump()) {
      yield { part: "resources", resources };
    }
  }

  /** Reports whether a file belongs to the time and the step of this history. */
  function isCurrent({ stepMs: savedStepMs, tick }: Extract<SavedPart, { part: "header" }>): boolean {
    const nowTick = Math.floor(Date.now() / stepMs);
    return savedStepMs === stepMs && tick <= nowTick && tick > nowTick - keptTicks;
  }

  async function readFile(path: string): Promise<void> {
    let keys: readonly string[] = [];
    const numberOf = (source: number) => sources.get(keys[source] ?? "");
    const restoreResources = parts.resources.restorer(numberOf);
    try {
      for await (const saved of readSavedHistory(path)) {
        if (saved.part === "resources") {
          restoreResources(saved.resources);
        } else if (saved.part !== "header") {
          restoreRing(saved, numberOf);
        } else if (isCurrent(saved)) {
          keys = saved.sources;
          first = saved.firstTick;
          last = saved.tick;
        } else {
          return;
        }
      }
    } catch (error) {
      forget();
      onFailed("the saved history could not be read; it begins again", error);
    }
  }

  function restoreRing(
    saved: Extract<SavedPart, { part: "readings" | "system" }>,
    numberOf: (source: number) => number | undefined,
  ): void {
    const source = numberOf(saved.part === "system" ? saved.system.source : saved.source);
    if (source === undefined) {
      return;
    }
    if (saved.part === "system") {
      parts.systems.restore({ ...saved.system, source });
      return;
    }
    for (const { from, to } of saved.spans) {
      for (let tick = from; tick < to; tick++) {
        readingsOf(source).write(tick, 1);
      }
    }
  }

  function forget(): void {
    parts = createParts();
    first = -1;
    last = -1;
  }

  return {
    stepMs,
    addSource(key) {
      const source = sources.get(key) ?? sources.size;
      sources.set(key, source);
      return source;
    },
    load() {
      loading ??= file === undefined ? Promise.resolve() : readFile(file);
      return loading;
    },
    beginTurn(nowMs) {
      const tick = Math.floor(nowMs / stepMs);
      if (tick === last) {
        return undefined;
      }
      if (tick < last) {
        // The clock was set back. Ticks that come a second time would mix two times.
        forget();
      }
      first = first === -1 ? tick : first;
      last = tick;
      isChanged = true;
      parts.resources.allowReplacements(replacementsPerTurn);
      return tick;
    },
    *record(tick, samples) {
      for (const [source, sample] of samples) {
        if (sample === undefined) {
          continue;
        }
        readingsOf(source).write(tick, 1);
        if ("systems" in sample) {
          parts.systems.record(source, tick, sample.systems);
        } else {
          yield* recordResources(source, tick, sample.resources);
        }
        yield;
      }
      parts.ringBytes -= parts.systems.dropBefore(tick - keptTicks);
      yield* parts.resources.dropBefore(tick - keptTicks);
    },
    read(name, isVisible) {
      const ofSystem = parts.systems.read(name);
      const ofResource = parts.resources.read(name);
      const system = ofSystem !== undefined && isVisible(ofSystem.source) ? ofSystem : undefined;
      const resource = ofResource !== undefined && isVisible(ofResource.source) ? ofResource : undefined;
      if (system === undefined && resource === undefined) {
        return undefined;
      }
      const readings = (from: number, to: number) =>
        resource === undefined ? [] : [...readingsOf(resource.source).spans(from, to)];
      const own = (system?.figures ?? []).map(
        ({ name: figure, unit, ring }): FigureHistory => ({
          name: figure,
          unit,
          isMean: meanUnits.has(unit),
          spans: ring.spans,
        }),
      );
      const names = new Set(own.map((figure) => figure.name));
      const further = (resource?.figures ?? [])
        .filter((figure) => !names.has(figure.name))
        .map(
          ({ name: figure, unit, spans }): FigureHistory => ({
            name: figure,
            unit,
            isMean: false,
            spans: (from, to) => intersect(spans(from, to), readings(from, to)),
          }),
        );
      return {
        figures: [...own, ...further],
        *states(from, to) {
          for (const span of intersect(resource?.states(from, to) ?? [], readings(from, to))) {
            const state = resource?.stateOf(span.value);
            if (state !== undefined) {
              yield { from: span.from, to: span.to, ...state };
            }
          }
        },
      };
    },
    systems: () =>
      parts.systems.names().map((name) => ({ name, source: parts.systems.read(name)?.source ?? -1 })),
    firstTick: () => Math.max(first, last + 1 - keptTicks, -1),
    lastTick: () => last,
    bytes,
    seriesCount: () => parts.resources.seriesCount() + parts.systems.seriesCount(),
    async save() {
      if (file === undefined || !isChanged) {
        return;
      }
      isChanged = false;
      try {
        await writeSavedHistory(file, dumpParts());
      } catch (error) {
        onFailed("the history could not be saved; it will be lost when the gateway stops", error);
      }
    },
  };
}
