import type { LvmState } from "../../../../adapters/lvm/adapter.ts";
import {
  type ObservedSystem,
  observeSystem,
  type SystemObserver,
  type SystemObserverOptions,
} from "../../../events/observe-system.ts";
import { type ObservedVolumes, parseObservedVolumes } from "./observed-volumes.ts";
import type { OwnChanges } from "./own-changes.ts";
import { type VolumeChangesOptions, volumeChanges } from "./volume-changes.ts";
import { services } from "./volume-events.ts";

/** Options of `observeVolumeChanges`. */
export interface VolumeObserverOptions
  extends SystemObserverOptions,
    Omit<VolumeChangesOptions, "ownChangeOf"> {
  /** The LVM adapter, with a record of this gateway's own changes. */
  readonly own: OwnChanges;
}

/** Publishes changes of LVM's state as events, whatever caused them. */
export function observeVolumeChanges(options: VolumeObserverOptions): SystemObserver {
  const { own, host } = options;
  const { lvm } = own;
  const system: ObservedSystem<LvmState, ObservedVolumes> = {
    source: `${lvm.kind === "sandbox" ? "sandbox-" : ""}lvm/${host}`,
    name: "LVM",
    subscribe: (onChange) => lvm.subscribe(onChange),
    async read(sinceMs, signal) {
      const snapshot = await lvm.read(signal);
      return snapshot.readAtMs >= sinceMs ? snapshot : lvm.refresh(signal);
    },
    parse: parseObservedVolumes,
    changes: (before, state, readAtMs) =>
      volumeChanges(before, state, {
        ...options,
        ownChangeOf: (difference) => own.find(difference, readAtMs),
      }),
    gapOrigin: { topic: "volumes", resource: "volumeGroups", host, services },
    onPublished: own.forget,
  };
  return observeSystem(system, options);
}
