import { setTimeout as sleep } from "node:timers/promises";
import { backOffMs } from "../../../../adapters/host/back-off.ts";
import { isSettledWithin } from "../../../../adapters/host/is-settled-within.ts";
import type { PodRuntime, RuntimeEvent } from "../../../../adapters/podman/adapter.ts";
import type { RuntimeState } from "../../../../adapters/podman/runtime-state.ts";
import { compareWith, firstObserved } from "./compare-with.ts";
import type { Fact } from "./fact.ts";
import { foldEvents, nextExitNs, passTime } from "./fold-events.ts";
import { type ObservedPods, withComparing } from "./observed-pods.ts";
import type { ObservedStore } from "./observed-store.ts";
import type { PodsChanges } from "./pods-draft.ts";

export interface WatchPodsOptions {
  readonly runtime: PodRuntime;
  readonly observedStore: ObservedStore;
  readonly settleMs: number;
  readonly confirmMs: number;
  /** Called when the runtime or the store failed and is retried. */
  readonly onFailed: (error: unknown) => void;
  /** Called after everything has succeeded. */
  readonly onHealthy: () => void;
}

const storeRetry = { firstMs: 100, longestMs: 2_000 };

/** Delay before the next check for exited pods. */
const againMs = 500;

/**
 * Follows the runtime from the last event reported according to the store, and reports changes, until the signal is aborted
 * or another gateway has reported a change.
 * @throws InfraError as the runtime does while it is unavailable, and STORE_UNAVAILABLE
 */
export async function watchPods(options: WatchPodsOptions, signal: AbortSignal): Promise<void> {
  const { runtime, observedStore, settleMs, confirmMs, onFailed, onHealthy } = options;
  const kept = await observedStore.read();
  let observed = kept.observed && withComparing(kept.observed);
  /** The state to compare, once the events that led to it are recorded. */
  let snapshot: { readonly state: RuntimeState; readonly atMs: number } | undefined;
  let comparingSinceNs = nowNs();
  let isCaughtUp = false;
  let confirmAtMs = performance.now() + confirmMs;
  let againAtMs = 0;

  const leaving = new AbortController();
  const ending = AbortSignal.any([signal, leaving.signal]);
  // For a position that the runtime does not know, the stream starts with a gap, which shows that it is running. A runtime
  // without any records sends none.
  const after = observed?.last ?? { key: "", timeNs: observed === undefined ? nowNs() : 0n };
  const batches = runtime.events({ after }, ending)[Symbol.asyncIterator]();

  /** @returns whether the write succeeded and no other gateway was first */
  async function publish(changes: PodsChanges): Promise<boolean> {
    for (let failures = 1; ; failures += 1) {
      try {
        const isOurs = await observedStore.write(changes.observed, changes.facts);
        observed = changes.observed;
        return isOurs;
      } catch (error) {
        signal.throwIfAborted();
        // Meanwhile new events wait in the runtime.
        onFailed(error);
        await sleep(backOffMs(failures, storeRetry), undefined, { signal, ref: false });
      }
    }
  }

  async function takeFirst(events: readonly RuntimeEvent[]): Promise<boolean> {
    const { value } = await runtime.read(ending);
    const [place = null] = events.flatMap((event) => (event.kind === "gap" ? (event.place ?? []) : []));
    const first = firstObserved(value, place, nowNs());
    const reason = "a gateway started watching pods for the first time";
    const gap: Fact = { type: "gap", sinceNs: undefined, reason };
    const rest = foldEvents(
      first,
      events.filter(({ kind }) => kind !== "gap"),
    );
    return publish({ observed: rest.observed, facts: [gap, ...rest.facts] });
  }

  async function take(events: readonly RuntimeEvent[]): Promise<boolean> {
    const isFirst = !isCaughtUp;
    isCaughtUp = true;
    if (observed === undefined) {
      return takeFirst(events);
    }
    const hasGap = events.some(({ kind }) => kind === "gap");
    if (hasGap) {
      // Changes after a gap are reported by events again.
      const gapEndsNs = events.flatMap(({ kind, timeNs }) => (kind === "gap" ? timeNs + 1n : []));
      comparingSinceNs = [comparingSinceNs, ...(isFirst ? [] : gapEndsNs)].reduce((a, b) => (a > b ? a : b));
      snapshot = undefined;
    }
    // Up to the last confirmation nothing can have been missed.
    const seenAtNs = isFirst && kept.seenAtMs !== undefined ? BigInt(kept.seenAtMs) * 1_000_000n : 0n;
    const wasEmpty = isFirst && observed.last === null;
    const relevant = events
      .filter((event) => event.kind !== "gap" || event.place !== undefined || !wasEmpty)
      .map((event) =>
        event.kind === "gap" && event.sinceNs < seenAtNs ? { ...event, sinceNs: seenAtNs } : event,
      );
    return relevant.length === 0 || publish(foldEvents(observed, relevant));
  }

  /** @returns false when another gateway has reported a change */
  async function checkState(known: ObservedPods): Promise<boolean> {
    if (known.comparing !== null) {
      return compare(known);
    }
    if (waitNs(nextExitNs(known)) <= 0n) {
      return publishExits(known);
    }
    if (performance.now() >= confirmAtMs) {
      observed = withComparing(known);
      comparingSinceNs = nowNs();
      snapshot = undefined;
    }
    return true;
  }

  async function compare(known: ObservedPods): Promise<boolean> {
    if (snapshot === undefined) {
      const { value } = await runtime.read(ending);
      snapshot = { state: value, atMs: performance.now() };
      againAtMs = snapshot.atMs + settleMs;
      return true;
    }
    const now = nowNs();
    const recorded = await runtime.history({ sinceNs: onTheirWaySinceNs(known), untilNs: now }, ending);
    const ids = recorded.flatMap((event) => [
      ...("podId" in event ? [event.podId] : []),
      ...("containerId" in event && event.kind !== "containerCreated" ? [event.containerId] : []),
    ]);
    const changes = compareWith(known, snapshot.state, new Set(ids), now);
    snapshot = undefined;
    const isOurs = await publish(changes);
    await observedStore.confirm();
    confirmAtMs = performance.now() + confirmMs;
    onHealthy();
    return isOurs;
  }

  /**
   * Events recorded after the last reported one are still to come, including those from before the comparison started: a
   * runtime that was unavailable reports its state before its events. After a gap, the rest of the record is not sufficient for
   * that.
   */
  function onTheirWaySinceNs({ last, comparing }: ObservedPods): bigint {
    const publishedNs = last === null ? 0n : last.timeNs + 1n;
    return comparing?.gap == null && publishedNs < comparingSinceNs ? publishedNs : comparingSinceNs;
  }

  /** If an app was started in the meantime, the event for it may arrive later than the clock suggests. */
  async function publishExits(known: ObservedPods): Promise<boolean> {
    const { value } = await runtime.read(ending);
    const there = new Map(value.pods.map((pod) => [pod.id, pod]));
    const isStartedAgain = (podId: string, sinceNs: bigint) =>
      there
        .get(podId)
        ?.containers.some(({ isInfra, startedAtNs = 0n }) => !isInfra && startedAtNs > sinceNs) !== false;
    const over = known.pods.filter(
      ({ id, pendingExitNs }) => pendingExitNs !== null && !isStartedAgain(id, pendingExitNs),
    );
    const changes = passTime(known, nowNs(), new Set(over.map(({ id }) => id)));
    againAtMs = performance.now() + againMs;
    return changes.facts.length === 0 || publish(changes);
  }

  function untilCheckMs(known: ObservedPods): number {
    const now = performance.now();
    const exitMs = Number(waitNs(nextExitNs(known)) / 1_000_000n);
    const dueMs = known.comparing !== null ? 0 : Math.min(exitMs, confirmAtMs - now);
    return Math.max(dueMs, againAtMs - now, 0);
  }

  try {
    let next = batches.next();
    for (;;) {
      const isCheckDue =
        isCaughtUp && observed !== undefined && !(await isSettledWithin(next, untilCheckMs(observed)));
      let isOurs = true;
      if (isCheckDue && observed !== undefined) {
        isOurs = await checkState(observed);
      } else {
        const { value, done } = await next;
        if (done === true) {
          return;
        }
        isOurs = await take(value);
        next = batches.next();
        // It may fail while it is not awaited.
        next.catch(() => {});
      }
      if (!isOurs) {
        return;
      }
    }
  } finally {
    leaving.abort();
    await batches.return?.();
  }
}

/** Returns the time left until then; a long time if there is none. */
function waitNs(momentNs: bigint | undefined): bigint {
  return momentNs === undefined ? 3_600_000_000_000n : momentNs - nowNs();
}

function nowNs(): bigint {
  return BigInt(Date.now()) * 1_000_000n;
}
