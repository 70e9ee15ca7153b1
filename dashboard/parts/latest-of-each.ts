import type { Event } from "../../gen/hostplane/v1/event_pb.ts";

/** Events without those of an operation that a later one has overtaken: an operation tells of each step. Newest first, as they are given. */
export function latestOfEach(events: readonly Event[]): readonly Event[] {
  const told = new Set<string>();
  return events.filter(({ detail }) => {
    if (detail.case !== "operation") {
      return true;
    }
    const isFirst = !told.has(detail.value.id);
    told.add(detail.value.id);
    return isFirst;
  });
}
