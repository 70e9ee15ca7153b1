import type { Event } from "../../../gen/hostplane/v1/event_pb.ts";

/**
 * Reports whether an event matches the resource path that a user has typed: resources that start with it, and gaps in a resource
 * above it.
 */
export function isAbout({ resource, detail }: Pick<Event, "resource" | "detail">, typed: string): boolean {
  const path = typed.trim();
  return resource.startsWith(path) || (detail.case === "gap" && path.startsWith(`${resource}/`));
}
