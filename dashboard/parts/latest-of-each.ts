import type { Event } from "../../gen/hostplane/v1/event_pb.ts";

/**
 * Returns events without the outdated ones of operations: an operation emits an event per step, and only the latest is kept.
 * Newest first, in the order given.
 */
export function latestOfEach(events: readonly Event[]): readonly Event[] {
  const seen = new Set<string>();
  return events.filter(({ detail }) => {
    if (detail.case !== "operation") {
      return true;
    }
    const isFirst = !seen.has(detail.value.id);
    seen.add(detail.value.id);
    return isFirst;
  });
}
