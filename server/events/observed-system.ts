import type { Snapshot } from "../../adapters/host/snapshot.ts";
import type { Attribution } from "./own-change-log.ts";
import type { NewEvent } from "./store/events.ts";

/** Changes since the last published state, and the new state to compare with the next time. */
export interface ObservedChanges<Observed> {
  readonly observed: Observed;
  readonly events: readonly NewEvent[];
}

/** Finds the change by this gateway that caused a difference; undefined for a difference from outside. */
export type CauseOf<Difference, Change> = (difference: Difference) => Change | undefined;

/**
 * A system to observe, and how its changes become events. `Difference` and `Change` are the types of its differences and of this
 * gateway's own changes, for systems that this gateway changes.
 */
export interface ObservedSystem<State, Observed, Difference = never, Change = never> {
  /** ID of the source in the store, e.g. `lvm/host-1`. */
  readonly source: string;
  /** Display name, e.g. `LVM`. */
  readonly name: string;
  /** Calls back when the state may have changed, and when it becomes readable or unreadable. */
  subscribe(onChange: () => void): () => void;
  /** Returns the newest state, read at or after `sinceMs` (performance.now()). */
  read(sinceMs: number, signal: AbortSignal): Promise<Snapshot<State>>;
  /** Parses a stored state; undefined when it has an unknown format. */
  parse(json: unknown): Observed | undefined;
  /**
   * Computes the events of a new state.
   * @param before undefined: nothing was published yet, or the stored state has an unknown format
   */
  changes(
    before: Observed | undefined,
    state: State,
    causeOf: CauseOf<Difference, Change>,
  ): ObservedChanges<Observed>;
  /** Computes the events of a system that cannot be read; absent where this changes nothing. The read is retried in any case. */
  changesWhenUnreadable?(before: Observed | undefined, error: unknown): ObservedChanges<Observed> | undefined;
  /** Origin of the event which reports that changes may have been missed. */
  readonly gapOrigin: Pick<NewEvent, "topic" | "resource" | "host" | "services">;
  /** This gateway's own changes; absent if it makes none that must be attributed. */
  readonly own?: Attribution<Difference, Change>;
}
