/** A change that an operation of this gateway makes. */
export interface OwnChange {
  /** As events name them: `pods/UUID`, with all that is below it, `images/ID`, or `images/NAME` of one whose id is not known. */
  readonly resources: readonly string[];
  readonly operationId: string;
  /** How long what it brought about may go on after it; 0 unless told. */
  readonly lingerMs?: number;
}

/** Tells this gateway's own changes of pods and images from those of others: the runtime says when each event was. */
export interface OwnChanges {
  /**
   * Makes a change.
   * @param make is given how to tell of another resource that it turns out to change
   * @throws what `make` throws
   */
  during<T>(change: OwnChange, make: (also: (resource: string) => void) => Promise<T>): Promise<T>;
  /**
   * The operation that worked on the resource, or on what it is a part of, then: nanoseconds since 1970. Undefined when none did,
   * or it was minutes ago.
   */
  operationOf(resource: string, timeNs: bigint): string | undefined;
  /** The same of an image, whose id a pull does not know before its end. */
  operationOfImage(id: string, names: readonly string[], timeNs: bigint): string | undefined;
}

/** As events and operations name it. */
export function podResource(uuid: string): string {
  return `pods/${uuid}`;
}

/** The same of an image. @param id or, while that is not known, its name */
export function imageResource(id: string): string {
  return `images/${id}`;
}

interface Span {
  readonly resources: Set<string>;
  readonly operationId: string;
  readonly fromNs: bigint;
  /** Undefined while it is made. */
  toNs: bigint | undefined;
}

/** Podman's events are told 250 ms after they were at most, and a gateway may read them later than that. */
const keptNs = 300n * 1_000_000_000n;

/** While much is changed, no more changes are remembered. */
const maxSpans = 10_000;

/** The clock of this process has milliseconds, the runtime's nanoseconds. */
const clockNs = 1_000_000n;

/** @param nowNs nanoseconds since 1970 */
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
    // Of two that touch each other the later one knows what it was asked for.
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
