import { InfraError } from "../../../adapters/host/infra-error.ts";
import { createNameMatch } from "../../../adapters/host/name-match.ts";
import type { Snapshot } from "../../../adapters/host/snapshot.ts";
import type { LogicalVolume, LvmAdapter, LvmState } from "../../../adapters/lvm/adapter.ts";
import { volumeResource } from "../../../adapters/lvm/names.ts";
import type { Mutation, PlannedMutation } from "../../operations/mutation.ts";
import type { Operations } from "../../operations/operations.ts";
import type { PlanAsker } from "../../operations/planner.ts";
import type { InlineRunner } from "../../operations/run-inline.ts";
import type { Call } from "../../rpc/call.ts";
import {
  assertResolved,
  type DeviceClass,
  findDeviceClass,
  type LvcreateOptionClass,
  type ResolvedClass,
  volumesOf,
} from "./device-class.ts";
import { bytesFromSize } from "./size.ts";
import {
  createVolumeChanges,
  type VolumeChange,
  type WantedCreate,
  type WantedRemove,
  type WantedResize,
  type WantedSnapshot,
} from "./volume-changes.ts";
import type { ShownVolume } from "./volume-messages.ts";

export interface VolumesOptions {
  readonly lvm: LvmAdapter;
  readonly deviceClasses: readonly DeviceClass[];
  readonly lvcreateOptionClasses?: readonly LvcreateOptionClass[];
  /** Patterns of names that are never removed or resized. */
  readonly protect: readonly string[];
  readonly runner: InlineRunner;
  readonly operations: Pick<Operations, "assertFree">;
  /** Resolves when no command of an earlier gateway changes LVM any more: changes wait for it. @throws InfraError SHUTTING_DOWN */
  readonly leftCommandsSettled?: () => Promise<void>;
}

/** Who asks for a change: told what it is about, and may leave before it begins. */
export type Asker = Pick<Call, "signal" | "noteResource">;

/** The volumes of this host: the rules of the contract over LVM, without protocol or messages. */
export interface Volumes {
  readonly deviceClasses: readonly DeviceClass[];
  readState(): Promise<Snapshot<LvmState>>;
  /**
   * A device class with the state of its group, as `LvmAdapter.readRecent` has it.
   * @throws InfraError DEVICE_CLASS_NOT_FOUND, VOLUME_GROUP_GONE
   */
  resolve(
    deviceClassName: string,
    signal: AbortSignal,
  ): Promise<{ readonly resolved: ResolvedClass; readonly snapshot: Snapshot<LvmState> }>;
  /**
   * When LVM cannot be read afterwards, the volume is returned as it was asked for, without a device.
   * @throws InfraError as `VolumeChanges.create` and `VolumeChange.describe`, OPERATION_IN_PROGRESS, and what LVM refuses
   */
  create(wanted: WantedCreate, asker: Asker): Promise<ShownVolume>;
  /** Returns the size that the volume then has, in bytes. @throws InfraError as `VolumeChanges.resize` and `VolumeChange.describe`, OPERATION_IN_PROGRESS, and what LVM refuses */
  resize(wanted: WantedResize, asker: Asker): Promise<bigint>;
  /** @throws InfraError as `VolumeChanges.remove` and `VolumeChange.describe`, OPERATION_IN_PROGRESS, and what LVM refuses */
  remove(wanted: WantedRemove, asker: Asker): Promise<void>;
  /** @throws InfraError as `VolumeChanges.snapshot` and `VolumeChange.describe`, OPERATION_IN_PROGRESS, and what LVM refuses */
  createSnapshot(wanted: WantedSnapshot, asker: Asker): Promise<ShownVolume>;
  /** What `create` would do now. @throws InfraError as `create` would, as far as LVM's state shows that */
  planCreate(wanted: WantedCreate, asker: PlanAsker): Promise<PlannedMutation>;
  /** What `resize` would do now. @throws InfraError as `resize` would, as far as LVM's state shows that */
  planResize(wanted: WantedResize, asker: PlanAsker): Promise<PlannedMutation>;
  /** What `remove` would do now. @throws InfraError as `remove` would, as far as LVM's state shows that */
  planRemove(wanted: WantedRemove, asker: PlanAsker): Promise<PlannedMutation>;
  /** What `createSnapshot` would do now. @throws InfraError as it would, as far as LVM's state shows that */
  planSnapshot(wanted: WantedSnapshot, asker: PlanAsker): Promise<PlannedMutation>;
  /** Calls back when LVM's state has changed, and after a resize to the same size, as clients expect. */
  subscribe(onChange: () => void): () => void;
}

/** Reads that are refused all the time are not to keep LVM busy. */
const refusalMaxAgeMs = 1_000;

export function createVolumes(options: VolumesOptions): Volumes {
  const { lvm, deviceClasses, lvcreateOptionClasses = [], runner, operations } = options;
  const isProtectedName = createNameMatch(options.protect);
  const changes = createVolumeChanges({ lvm, deviceClasses, lvcreateOptionClasses, isProtectedName });
  const listeners = new Set<() => void>();

  async function resolve(deviceClassName: string, signal?: AbortSignal) {
    const deviceClass = findDeviceClass(deviceClasses, deviceClassName);
    const check = (snapshot: Snapshot<LvmState>) => ({
      resolved: assertResolved(deviceClass, snapshot.value),
      snapshot,
    });
    return checkTwice(await lvm.readRecent(signal), check, refusalMaxAgeMs, signal);
  }

  /**
   * Checks something against a state of LVM's, and against one that is read now before it is refused: what the state lacks may
   * have come without a notice.
   * @param maxAgeMs a refusal by a state that is younger counts at once
   */
  async function checkTwice<T>(
    snapshot: Snapshot<LvmState>,
    check: (snapshot: Snapshot<LvmState>) => T,
    maxAgeMs: number,
    signal?: AbortSignal,
  ): Promise<T> {
    try {
      return check(snapshot);
    } catch (error) {
      if (!(error instanceof InfraError) || performance.now() - snapshot.readAtMs < maxAgeMs) {
        throw error;
      }
    }
    return check(await lvm.refresh(signal));
  }

  /**
   * Runs a change of one volume once its turn has come, checked against the state of that moment; not at all
   * when its caller has left by then, or an operation works on the volume. Volumes of a thin pool take turns with each other: how much a pool may
   * promise is for us alone to hold, while LVM itself holds the space of a group.
   */
  function run(change: VolumeChange, asker: Asker): Promise<Mutation> {
    const { name, deviceClass, describe } = change;
    const { volumeGroup, thinPool } = deviceClass;
    const resource = volumeResource(volumeGroup, name);
    asker.noteResource(resource);
    const describeFree = async () => {
      // Before LVM is read, so that the checks see what those commands have done.
      await options.leftCommandsSettled?.();
      asker.signal.throwIfAborted();
      await assertFree(change);
      return checkTwice(await lvm.read(), ({ value }) => describe(value), 0);
    };
    return runner.run(volumeResource(volumeGroup, thinPool ?? name), describeFree, asker.signal);
  }

  /** @throws InfraError OPERATION_IN_PROGRESS */
  async function assertFree({ name, sourceName, deviceClass: { volumeGroup } }: VolumeChange): Promise<void> {
    await operations.assertFree(volumeResource(volumeGroup, name));
    if (sourceName !== undefined) {
      await operations.assertFree(volumeResource(volumeGroup, sourceName));
    }
  }

  async function plan(change: VolumeChange, { signal }: PlanAsker): Promise<PlannedMutation> {
    const { value: state } = await lvm.refresh(signal);
    await assertFree(change);
    const mutation = change.describe(state);
    if (mutation.steps.length > 0) {
      change.foresee(state);
    }
    return mutation;
  }

  /** The volumes of a class after a change; undefined while LVM cannot be read: the change is done all the same. */
  async function readVolumes({ deviceClass }: VolumeChange): Promise<readonly LogicalVolume[] | undefined> {
    const read = await resolve(deviceClass.name).catch(() => undefined);
    return read && volumesOf(read.resolved, read.snapshot.value);
  }

  /** Makes a volume, and tells of it as it then is. */
  async function make(
    change: VolumeChange,
    { sizeBytes, tags }: Pick<ShownVolume, "sizeBytes" | "tags">,
    asker: Asker,
  ): Promise<ShownVolume> {
    const { name, deviceClass } = change;
    const { resource } = await run(change, asker);
    const volumes = await readVolumes(change);
    if (volumes === undefined) {
      const { volumeGroup: volumeGroupName } = deviceClass;
      return { volumeGroupName, name, sizeBytes, tags, device: undefined, attributes: "" };
    }
    const made = volumes.find((one) => one.name === name);
    if (made === undefined) {
      throw new InfraError("VOLUME_NOT_FOUND", `${name} was made, and removed by somebody else at once`, {
        resource,
      });
    }
    return made;
  }

  return {
    deviceClasses,
    readState: () => lvm.read(),
    resolve,

    create: async (wanted, asker) =>
      make(changes.create(wanted), { sizeBytes: bytesFromSize(wanted.size), tags: wanted.tags }, asker),

    async resize(wanted, asker) {
      const change = changes.resize(wanted);
      const { steps } = await run(change, asker);
      if (steps.length === 0) {
        for (const listener of listeners) {
          listener();
        }
      }
      const volume = (await readVolumes(change))?.find(({ name }) => name === wanted.name);
      return volume?.sizeBytes ?? bytesFromSize(wanted.size);
    },

    async remove(wanted, asker) {
      try {
        await run(changes.remove(wanted), asker);
      } catch (error) {
        // Somebody else has removed it between the check and the command: it is gone, as was asked.
        const isGone = error instanceof InfraError && error.reason === "VOLUME_NOT_FOUND";
        if (!isGone || wanted.mustExist === true) {
          throw error;
        }
      }
    },

    createSnapshot: async ({ size, ...wanted }, asker) =>
      make(
        changes.snapshot({ ...wanted, size }),
        { sizeBytes: size === undefined ? 0n : bytesFromSize(size), tags: wanted.tags },
        asker,
      ),

    planCreate: async (wanted, asker) => plan(changes.create(wanted), asker),
    planResize: async (wanted, asker) => plan(changes.resize(wanted), asker),
    planRemove: async (wanted, asker) => plan(changes.remove(wanted), asker),
    planSnapshot: async (wanted, asker) => plan(changes.snapshot(wanted), asker),

    subscribe(onChange) {
      listeners.add(onChange);
      const unsubscribe = lvm.subscribe(onChange);
      return () => {
        listeners.delete(onChange);
        unsubscribe();
      };
    },
  };
}
