import { InfraError } from "../../adapters/host/infra-error.ts";
import type {
  LogicalVolume,
  LvmAdapter,
  LvmState,
  LvmStep,
  VolumeGroup,
} from "../../adapters/lvm/adapter.ts";
import { volumeGroupResource, volumeResource } from "../../adapters/lvm/names.ts";
import { lvmReasons } from "../../adapters/lvm/reasons.ts";
import type { InlineRunner } from "../operations/engine/run-inline.ts";
import { isResult, operationTag } from "./operation-marks.ts";
import { createShownCommand, type ShownCommand } from "./shown-command.ts";

/** A volume group: its name and its UUID. */
export interface GroupIdentity {
  readonly volumeGroup: string;
  readonly groupUuid: string;
}

/** A volume that an operation works on. */
export interface VolumePlace extends GroupIdentity {
  readonly volume: string;
  /** Thin pool that contains it; null: none. */
  readonly thinPool: string | null;
}

/** A volume that an operation has created: the one that it was begun for, or the snapshot that it reads. */
export interface CreatedVolume {
  readonly operationId: string;
  readonly is: "result" | "snapshot";
}

/**
 * LVM changes made by operations. Each change is queued per volume, as in `volumes.ts`, and only runs in the intended volume
 * group.
 */
export interface OperationVolumes {
  readonly shown: ShownCommand;
  /** Reads the current state from LVM. */
  readState(): Promise<LvmState>;
  /**
   * Runs the steps that `stepsFrom` computes from the current state, once it is the volume's turn.
   * @throws InfraError VOLUME_GROUP_GONE, and the errors of `stepsFrom` and LVM
   */
  change(
    place: VolumePlace,
    kind: string,
    stepsFrom: (state: LvmState, group: VolumeGroup) => readonly LvmStep[],
    signal: AbortSignal,
  ): Promise<void>;
  /**
   * Removes the volume that the operation has created, if it exists.
   * @throws InfraError VOLUME_GROUP_GONE, VOLUME_IN_USE
   */
  remove(place: VolumePlace, kind: string, created: CreatedVolume, signal: AbortSignal): Promise<void>;
}

/** @param runner queues the changes with those of calls, so that no two change a volume at once */
export function createOperationVolumes(lvm: LvmAdapter, runner: InlineRunner): OperationVolumes {
  const change: OperationVolumes["change"] = async (place, kind, stepsFrom, signal) => {
    const { volumeGroup, volume, thinPool, groupUuid } = place;
    const describe = async () => {
      const { value: state } = await lvm.refresh();
      const steps = stepsFrom(state, assertSameGroup(state, place));
      return {
        kind,
        resource: volumeResource(volumeGroup, volume),
        backend: groupUuid,
        plan: { changes: [], losses: [], facts: [] },
        steps: steps.map((step) => ({
          name: step.kind,
          command: lvm.commandOf(step),
          forward: () => lvm.run(step),
        })),
        pointOfNoReturn: 0,
      };
    };
    await runner.run(volumeResource(volumeGroup, thinPool ?? volume), describe, signal);
  };
  return {
    shown: createShownCommand(lvm),
    readState: async () => (await lvm.refresh()).value,
    change,
    remove: (place, kind, created, signal) =>
      change(
        place,
        kind,
        (state) => {
          const found = findCreated(state, place, created);
          return found === undefined
            ? []
            : [{ kind: "remove", volumeGroupName: place.volumeGroup, name: found.name }];
        },
        signal,
      ),
  };
}

/**
 * Returns the group of that name, if it has the expected UUID.
 * @throws InfraError VOLUME_GROUP_GONE
 */
export function assertSameGroup(state: LvmState, { volumeGroup, groupUuid }: GroupIdentity): VolumeGroup {
  const group = state.volumeGroups.find(({ name }) => name === volumeGroup);
  if (group?.uuid !== groupUuid) {
    const what =
      group === undefined
        ? "does not exist"
        : `has been replaced by another one (UUID ${group.uuid}, expected ${groupUuid})`;
    throw new InfraError(lvmReasons.VOLUME_GROUP_GONE, `volume group ${volumeGroup} ${what}`, {
      resource: volumeGroupResource(volumeGroup),
    });
  }
  return group;
}

/** Finds a volume of a group by name. */
export function findVolume(state: LvmState, volumeGroup: string, name: string): LogicalVolume | undefined {
  return state.volumes.find((one) => one.volumeGroupName === volumeGroup && one.name === name);
}

/**
 * Finds a volume that an operation has created, by its tags.
 * @throws InfraError VOLUME_GROUP_GONE, because the volume's existence is unknown then
 */
export function findCreated(
  state: LvmState,
  identity: GroupIdentity,
  { operationId, is }: CreatedVolume,
): LogicalVolume | undefined {
  assertSameGroup(state, identity);
  const tag = operationTag(operationId);
  return state.volumes.find(
    (one) =>
      one.volumeGroupName === identity.volumeGroup &&
      one.tags.includes(tag) &&
      isResult(one) === (is === "result"),
  );
}
