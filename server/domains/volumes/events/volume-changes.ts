import type { LvmState } from "../../../../adapters/lvm/adapter.ts";
import type { CauseOf, ObservedChanges } from "../../../events/observed-system.ts";
import { presenceDifferences, spaceDifferences } from "./group-differences.ts";
import { type ObservedVolumes, observeVolumes } from "./observed-volumes.ts";
import type { OwnChange } from "./own-changes.ts";
import { type VolumeDifference, volumeDifferences } from "./volume-differences.ts";
import { type EventOrigin, volumeEvent, volumeGroupEvent } from "./volume-events.ts";

/** Options of `volumeChanges`. */
export interface VolumeChangesOptions extends EventOrigin {
  /** A store with less free space than this, in percent, is low. */
  readonly lowSpacePercent: number;
  /** Returns the gateway's own change that caused a difference, if there is one. */
  readonly ownChangeOf: CauseOf<VolumeDifference, OwnChange>;
}

/**
 * Compares LVM's state with the last published one and returns events for the differences: groups that are gone or back, then
 * changes of volumes, then groups that are low on space. The first state yields no events.
 */
export function volumeChanges(
  before: ObservedVolumes | undefined,
  state: LvmState,
  options: VolumeChangesOptions,
): ObservedChanges<ObservedVolumes> {
  const { deviceClasses, lowSpacePercent, ownChangeOf } = options;
  const after = observeVolumes(before, state);
  const space = spaceDifferences(before?.low ?? [], state, deviceClasses, lowSpacePercent);
  const observed = { ...after, low: space.low };
  if (before === undefined) {
    return { observed, events: [] };
  }
  const groupEvent = (difference: Parameters<typeof volumeGroupEvent>[0]) =>
    volumeGroupEvent(difference, options);
  const events = [
    ...presenceDifferences(before, after, deviceClasses).map(groupEvent),
    ...volumeDifferences(before.volumes, after.volumes).map((difference) =>
      volumeEvent(difference, ownChangeOf(difference), options),
    ),
    ...space.differences.map(groupEvent),
  ];
  return { observed, events };
}
