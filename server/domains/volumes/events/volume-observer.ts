import type { LvmState } from "../../../../adapters/lvm/adapter.ts";
import {
  observeSystem,
  type SystemObserver,
  type SystemObserverOptions,
} from "../../../events/observe-system.ts";
import type { ObservedSystem } from "../../../events/observed-system.ts";
import { type ObservedVolumes, parseObservedVolumes } from "./observed-volumes.ts";
import type { OwnChange, OwnChanges } from "./own-changes.ts";
import { type VolumeChangesOptions, volumeChanges } from "./volume-changes.ts";
import type { VolumeDifference } from "./volume-differences.ts";
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
  const system: ObservedSystem<LvmState, ObservedVolumes, VolumeDifference, OwnChange> = {
    source: `${lvm.kind === "sandbox" ? "sandbox-" : ""}lvm/${host}`,
    name: "LVM",
    subscribe: (onChange) => lvm.subscribe(onChange),
    async read(sinceMs, signal) {
      const snapshot = await lvm.read(signal);
      return snapshot.readAtMs >= sinceMs ? snapshot : lvm.refresh(signal);
    },
    parse: parseObservedVolumes,
    changes: (before, state, causeOf) => volumeChanges(before, state, { ...options, ownChangeOf: causeOf }),
    gapOrigin: { topic: "volumes", resource: "volumeGroups", host, services },
    own,
  };
  return observeSystem(system, options);
}
