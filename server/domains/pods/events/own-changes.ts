/** A change made by an operation of this gateway. */
export interface OwnChange {
  /**
   * Resource names as in events: `pods/UUID`, which includes everything below it, `images/ID`, or `images/NAME` while the id is
   * unknown.
   */
  readonly resources: readonly string[];
  readonly operationId: string;
  /** How long its effects may continue after it has returned; 0 by default. */
  readonly lingerMs?: number;
}

/** Distinguishes this gateway's own changes of pods and images from those of others, by the time of each event. */
export interface OwnChanges {
  /**
   * Makes a change.
   * @param make receives a function that adds another resource affected by the change
   * @throws what `make` throws
   */
  during<T>(change: OwnChange, make: (also: (resource: string) => void) => Promise<T>): Promise<T>;
  /**
   * Returns the operation that changed the resource, or its parent, at the given time (nanoseconds since 1970). Undefined when
   * there was none, or it was minutes ago.
   */
  operationOf(resource: string, timeNs: bigint): string | undefined;
  /** The same for an image, whose id is unknown to a pull until it ends. */
  operationOfImage(id: string, names: readonly string[], timeNs: bigint): string | undefined;
}

/** Returns the resource name of a pod in events and operations. */
export function podResource(uuid: string): string {
  return `pods/${uuid}`;
}

/** Returns the resource name of an image in events and operations. @param id or the name, while the id is unknown */
export function imageResource(id: string): string {
  return `images/${id}`;
}

interface Span {
  readonly resources: Set<string>;
  readonly operationId: string;
  readonly fromNs: bigint;
  /** Undefined while the change is running. */
  toNs: bigint | undefined;
}

/** How long changes are remembered: Podman reports its events up to 250 ms late, and a gateway may read them later than that. */
const keptNs = 300n * 1_000_000_000n;

/** Maximum number of changes remembered. */
const maxSpans = 10_000;

/** Resolution of this process's clock; the runtime's clock has nanoseconds. */
const clockNs = 1_000_000n;

/** Creates the record of changes. @param nowNs nanoseconds since 1970 */
export function createOwnChanges(nowNs = () => BigInt(Date.now()) * 1_000_000n): OwnChanges {
  const spans = new Set<Span>();

  function forgetOld(): void {
    const oldest = nowNs() - keptNs;
    for (const span of spans) {
      if (spans.size > maxSpans || (span.toNs !== undefined && span.toNs < oldest)) {
        spans.delete(span);
      }
    }
  }

  function operationOf(resource: string, timeNs: bigint): string | undefined {
    const fits = ({ resources, fromNs, toNs }: Span) =>
      fromNs <= timeNs &&
      (toNs === undefined || timeNs <= toNs) &&
      [...resources].some((each) => each === resource || resource.startsWith(`${each}/`));
    // Where two changes meet, the later one is the cause.
    return [...spans].findLast(fits)?.operationId;
  }

  return {
    async during({ resources, operationId, lingerMs = 0 }, make) {
      forgetOld();
      const span: Span = {
        resources: new Set(resources),
        operationId,
        fromNs: nowNs() - clockNs,
        toNs: undefined,
      };
      spans.add(span);
      try {
        return await make((resource) => void span.resources.add(resource));
      } finally {
        span.toNs = nowNs() + clockNs + BigInt(lingerMs) * 1_000_000n;
      }
    },
    operationOf,
    operationOfImage(id, names, timeNs) {
      const known = [id, ...names].map((each) => operationOf(imageResource(each), timeNs));
      return known.find((operationId) => operationId !== undefined);
    },
  };
}
