import type { Store } from "../../../store/store.ts";
import type { OwnChanges } from "../own-changes.ts";
import type { Fact } from "./fact.ts";
import { jsonFromObservedPods, type ObservedPods, parseObservedPods } from "./observed-pods.ts";
import { podEvents } from "./pod-events.ts";

export interface ObservedStoreOptions {
  readonly store: Pick<Store, "run">;
  readonly source: string;
  readonly own: OwnChanges;
  readonly host: string;
  /** Told of what is kept each time that is known to have changed. */
  readonly onKept: (observed: ObservedPods) => void;
}

/** What the store has of pods and images. */
export interface ObservedStore {
  /** @returns what was last told, undefined if nothing was, and when it was last so, milliseconds since 1970 */
  read(): Promise<{ readonly observed: ObservedPods | undefined; readonly seenAtMs: number | undefined }>;
  /**
   * Keeps what has become of what was read or written last, with the events that tell it.
   * @returns false when another gateway was faster, or an earlier attempt did it: all is to be read anew
   */
  write(observed: ObservedPods, facts: readonly Fact[]): Promise<boolean>;
  /** Notes that it is still as it was last told. */
  confirm(): Promise<void>;
}

/** @throws InfraError STORE_UNAVAILABLE, from each of its functions */
export function createObservedStore({
  store,
  source,
  own,
  host,
  onKept,
}: ObservedStoreOptions): ObservedStore {
  let version = 0;
  return {
    async read() {
      const { observed: kept } = await store.run("observed.read", { source });
      version = kept?.version ?? 0;
      const observed = parseObservedPods(kept?.state);
      if (observed !== undefined) {
        onKept(observed);
      }
      return { observed, seenAtMs: kept?.observedAtMs };
    },
    async write(observed, facts) {
      const events = podEvents(facts, own, host, Date.now());
      const state = jsonFromObservedPods(observed);
      const written = await store.run("observed.write", { source, version, state, events });
      if (written.ok) {
        version = written.version;
        onKept(observed);
      }
      return written.ok;
    },
    async confirm() {
      await store.run("observed.confirm", { source, version });
    },
  };
}
