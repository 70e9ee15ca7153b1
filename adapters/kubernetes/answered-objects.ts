import type { KubernetesListObject, KubernetesObject } from "@kubernetes/client-node";

/**
 * A list as an API server answers it, if it is one: the library goes through whatever it is given, and what it throws then is
 * caught by nobody. Undefined for anything else.
 */
export function listFromReply(reply: unknown): KubernetesListObject<KubernetesObject> | undefined {
  if (!isRecord(reply)) {
    return undefined;
  }
  // So Go writes a list without any.
  const items = reply.items === null ? [] : reply.items;
  if (!Array.isArray(items) || !items.every(isNamed)) {
    return undefined;
  }
  return { ...reply, items };
}

/** Whether an event of a watch is one that the library can follow. Bookmarks have a version, and no name. */
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
