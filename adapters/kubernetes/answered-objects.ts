import type { KubernetesListObject, KubernetesObject } from "@kubernetes/client-node";

/**
 * Validates the reply of an API server as a list; undefined for anything else. The library would iterate over any
 * value, and its exceptions would not be caught.
 */
export function listFromReply(reply: unknown): KubernetesListObject<KubernetesObject> | undefined {
  if (!isRecord(reply)) {
    return undefined;
  }
  // Go encodes an empty list as null.
  const items = reply.items === null ? [] : reply.items;
  if (!Array.isArray(items) || !items.every(isNamed)) {
    return undefined;
  }
  return { ...reply, items };
}

/** Reports whether an event of a watch is one that the library can process. Bookmarks have a version, but no name. */
export function isWatchEvent(type: unknown, object: unknown): boolean {
  switch (type) {
    case "ADDED":
    case "MODIFIED":
    case "DELETED":
      return isNamed(object);
    case "BOOKMARK":
      return isRecord(object) && isRecord(object.metadata) && isText(object.metadata.resourceVersion);
    default:
      return false;
  }
}

function isNamed(object: unknown): boolean {
  return isRecord(object) && isRecord(object.metadata) && isText(object.metadata.name);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}
