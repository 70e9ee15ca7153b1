import type { LvmState } from "../../../../adapters/lvm/adapter.ts";
import type { NewEvent } from "../../../store/events.ts";
import { presenceDifferences, spaceDifferences } from "./group-differences.ts";
import { type ObservedVolumes, observeVolumes } from "./observed-volumes.ts";
import type { OwnChange } from "./own-changes.ts";
import { type VolumeDifference, volumeDifferences } from "./volume-differences.ts";
import { type EventOrigin, volumeEvent, volumeGroupEvent } from "./volume-events.ts";

/** What `tellVolumes` needs to know. */
export interface TellOptions extends EventOrigin {
  /** A store with less free space is low. */
  readonly lowSpacePercent: number;
  /** The gateway's own change that a difference comes from. */
  readonly ownChangeOf: (difference: VolumeDifference) => OwnChange | undefined;
}

/**
 * Compares LVM's state with what was last told, and tells the difference: groups that are gone or back, then what happened
 * to volumes, then which groups are low on space. Of a state that is the first nothing is told.
 */
export function tellVolumes(
  before: ObservedVolumes | undefined,
  state: LvmState,
  options: TellOptions,
): { readonly observed: ObservedVolumes; readonly events: readonly NewEvent[] } {
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
