import type { Store } from "../../../store/store.ts";
import type { Fact } from "./fact.ts";
import { jsonFromObservedPods, type ObservedPods, parseObservedPods } from "./observed-pods.ts";
import type { OwnChanges } from "./own-changes.ts";
import { podEvents } from "./pod-events.ts";

export interface ObservedStoreOptions {
  readonly store: Pick<Store, "run">;
  readonly source: string;
  readonly own: OwnChanges;
  readonly host: string;
  /** Called with the stored state whenever it is known to have changed. */
  readonly onKept: (observed: ObservedPods) => void;
}

/** The stored state of pods and images. */
export interface ObservedStore {
  /** @returns the last reported state, undefined if there is none; and when it was last confirmed, milliseconds since 1970 */
  read(): Promise<{ readonly observed: ObservedPods | undefined; readonly seenAtMs: number | undefined }>;
  /**
   * Stores the successor of the state that was last read or written, together with its events.
   * @returns false when another gateway or an earlier attempt has written already, so that everything must be read again
   */
  write(observed: ObservedPods, facts: readonly Fact[]): Promise<boolean>;
  /** Records that the last reported state is still current. */
  confirm(): Promise<void>;
}

/** Creates the store. @throws InfraError STORE_UNAVAILABLE, from each of its functions */
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
