/** A resource that went beyond its limit, or came back. */
export interface LimitCrossing<Resource> {
  readonly resource: Resource;
  readonly isBeyond: boolean;
}

/** The rule of `limitCrossings`. */
export interface Limit<Resource, Key> {
  keyOf(resource: Resource): Key;
  /**
   * Reports whether a resource is beyond its limit; undefined if that is unknown, so that it stays where it was.
   * @param wasBeyond for a hysteresis, which prevents repeated events around the limit
   */
  isBeyond(resource: Resource, wasBeyond: boolean): boolean | undefined;
}

/**
 * Returns the resources that crossed a limit, and the keys of those that are beyond it now. A removed resource crosses nothing.
 * @param before keys of the resources that were beyond the limit
 */
export function limitCrossings<Resource, Key>(
  before: readonly Key[],
  resources: readonly Resource[],
  { keyOf, isBeyond }: Limit<Resource, Key>,
): { readonly crossings: LimitCrossing<Resource>[]; readonly beyond: Key[] } {
  const all = resources.map((resource) => {
    const wasBeyond = before.includes(keyOf(resource));
    return { resource, wasBeyond, isBeyond: isBeyond(resource, wasBeyond) ?? wasBeyond };
  });
  return {
    crossings: all.filter((one) => one.isBeyond !== one.wasBeyond),
    beyond: all.filter((one) => one.isBeyond).map(({ resource }) => keyOf(resource)),
  };
}
