/** A resource in two snapshots; undefined in the one that lacks it. */
export type ResourcePair<Before, After> =
  | { readonly before: Before; readonly after: undefined }
  | { readonly before: Before | undefined; readonly after: After };

/**
 * Pairs the resources of two snapshots by their keys: first those that were removed, in the order of `before`, then all others,
 * in the order of `after`.
 */
export function compareResources<Before, After>(
  before: readonly Before[],
  after: readonly After[],
  keyOf: (resource: Before | After) => string | number,
): ResourcePair<Before, After>[] {
  const earlier = new Map(before.map((resource) => [keyOf(resource), resource]));
  const later = new Set(after.map(keyOf));
  return [
    ...before
      .filter((resource) => !later.has(keyOf(resource)))
      .map((resource) => ({ before: resource, after: undefined })),
    ...after.map((resource) => ({ before: earlier.get(keyOf(resource)), after: resource })),
  ];
}

/** Describes a changed property of a resource, such as `memory: 8192 MB -> 16384 MB`; nothing if it is the same. */
export function describeChange(property: string, before: string, after: string): string[] {
  return before === after ? [] : [`${property}: ${before} -> ${after}`];
}
