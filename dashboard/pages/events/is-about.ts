import type { Event } from "../../../gen/hostplane/v1/event_pb.ts";

/** Whether an event is about what a user has typed of a resource's path: all that begin with it, and gaps above it. */
export function isAbout({ resource, detail }: Pick<Event, "resource" | "detail">, typed: string): boolean {
  const wanted = typed.trim();
  return resource.startsWith(wanted) || (detail.case === "gap" && wanted.startsWith(`${resource}/`));
}
