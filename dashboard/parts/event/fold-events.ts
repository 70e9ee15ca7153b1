import type { Event } from "../../../gen/hostplane/v1/event_pb.ts";

/** Events of the same kind about the same resource, as one line. */
export interface FoldedEvent {
  /** The newest of them. */
  readonly event: Event;
  readonly count: number;
  /** The oldest of them. */
  readonly first: Event;
}

/**
 * Folds repeated events into one line each: a pod that exited 41 times is one line. Changes of one operation are one line as well.
 * @param events newest first
 * @returns newest first, each at the place of its newest event
 */
export function foldEvents(events: readonly Event[]): readonly FoldedEvent[] {
  const folded = new Map<string, FoldedEvent>();
  for (const event of events) {
    const { type, resource, fleetHost, detail } = event;
    const key = detail.case === "operation" ? detail.value.id : `${type} ${resource} ${fleetHost}`;
    const before = folded.get(key);
    folded.set(
      key,
      before === undefined
        ? { event, count: 1, first: event }
        : { ...before, count: before.count + 1, first: event },
    );
  }
  return [...folded.values()];
}
