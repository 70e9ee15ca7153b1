/** A change that an operation of this gateway makes. */
export interface OwnChange {
  /** As events name it: `pods/UUID` or `images/ID`. */
  readonly resource: string;
  readonly operationId: string;
}

/** Tells this gateway's own changes of pods and images from those of others: the runtime says when each event was. */
export interface OwnChanges {
  /** Makes a change. @throws what `make` throws */
  during<T>(change: OwnChange, make: () => Promise<T>): Promise<T>;
  /**
   * The operation that worked on the resource then, nanoseconds since 1970. Undefined when none did, or it was minutes ago.
   */
  operationOf(resource: string, timeNs: bigint): string | undefined;
}

interface Span extends OwnChange {
  readonly fromNs: bigint;
  /** Undefined while it is made. */
  toNs: bigint | undefined;
}

/** Podman's events are told 250 ms after they were at most, and a gateway may read them later than that. */
const keptNs = 300n * 1_000_000_000n;

/** While much is changed, no more changes are remembered. */
const maxSpans = 10_000;

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

  return {
    async during(change, make) {
      forgetOld();
      // The clock of this process has milliseconds, the runtime's nanoseconds.
      const span: Span = { ...change, fromNs: nowNs() - 1_000_000n, toNs: undefined };
      spans.add(span);
      try {
        return await make();
      } finally {
        span.toNs = nowNs() + 1_000_000n;
      }
    },
    operationOf(resource, timeNs) {
      const fits = (span: Span) =>
        span.resource === resource &&
        span.fromNs <= timeNs &&
        (span.toNs === undefined || timeNs <= span.toNs);
      return [...spans].find(fits)?.operationId;
    },
  };
}
