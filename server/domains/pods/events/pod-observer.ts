import type { PodRuntime } from "../../../../adapters/podman/adapter.ts";
import type { Store } from "../../../store/store.ts";
import type { OwnChanges } from "../own-changes.ts";
import type { ImportTimes } from "./import-times.ts";

/** What `createPodObserver` needs. */
export interface PodObserverOptions {
  readonly runtime: PodRuntime;
  readonly own: OwnChanges;
  readonly store: Pick<Store, "run">;
  readonly host: string;
  /** Called when the runtime or the store failed, for the first time in a row; both are tried again. */
  readonly onFailed: (error: unknown) => void;
}

/** Tells what happens to pods and images as events, whoever makes it. */
export interface PodObserver {
  readonly importTimes: ImportTimes;
  /** Begins to tell, until it is closed. */
  begin(): { close(): Promise<void> };
}

export function createPodObserver(_options: PodObserverOptions): PodObserver {
  return {
    importTimes: { importedAtNs: () => undefined },
    begin: () => ({ close: async () => {} }),
  };
}
