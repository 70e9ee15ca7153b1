import { hasReason, InfraError } from "../../../adapters/host/infra-error.ts";
import { createNameMatch } from "../../../adapters/host/name-match.ts";
import type { Snapshot } from "../../../adapters/host/snapshot.ts";
import type { LogicalVolume, LvmAdapter, LvmState } from "../../../adapters/lvm/adapter.ts";
import { volumeResource } from "../../../adapters/lvm/names.ts";
import { lvmReasons } from "../../../adapters/lvm/reasons.ts";
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
  /**
   * Resolves when no LVM command of an earlier gateway process is running any more; changes wait for it.
   * @throws InfraError SHUTTING_DOWN
   */
  readonly leftCommandsSettled?: () => Promise<void>;
}

/** The requester of a change. It is notified of the resource, and may abort before the change begins. */
export type Asker = Pick<Call, "signal" | "noteResource">;

/** The volumes of this host: the contract's rules on top of LVM, independent of protocols and messages. */
export interface Volumes {
  readonly deviceClasses: readonly DeviceClass[];
  readState(): Promise<Snapshot<LvmState>>;
  /**
   * Returns a device class with the state of its group, as read by `LvmAdapter.readRecent`.
   * @throws InfraError DEVICE_CLASS_NOT_FOUND, VOLUME_GROUP_GONE
   */
  resolve(
    deviceClassName: string,
    signal: AbortSignal,
  ): Promise<{ readonly resolved: ResolvedClass; readonly snapshot: Snapshot<LvmState> }>;
  /**
   * Creates a volume. If LVM cannot be read afterwards, the volume is returned as requested, without a device.
   * @throws InfraError as `VolumeChanges.create` and `VolumeChange.describe`, OPERATION_IN_PROGRESS, and what LVM refuses
   */
  create(wanted: WantedCreate, asker: Asker): Promise<ShownVolume>;
  /**
   * Resizes a volume and returns its new size, in bytes.
   * @throws InfraError as `VolumeChanges.resize` and `VolumeChange.describe`, OPERATION_IN_PROGRESS, and what LVM refuses
   */
  resize(wanted: WantedResize, asker: Asker): Promise<bigint>;
  /** @throws InfraError as `VolumeChanges.remove` and `VolumeChange.describe`, OPERATION_IN_PROGRESS, and what LVM refuses */
  remove(wanted: WantedRemove, asker: Asker): Promise<void>;
  /** @throws InfraError as `VolumeChanges.snapshot` and `VolumeChange.describe`, OPERATION_IN_PROGRESS, and what LVM refuses */
  createSnapshot(wanted: WantedSnapshot, asker: Asker): Promise<ShownVolume>;
  /** Returns what `create` would do now. @throws InfraError as `create` would, as far as LVM's state shows that */
  planCreate(wanted: WantedCreate, asker: PlanAsker): Promise<PlannedMutation>;
  /** Returns what `resize` would do now. @throws InfraError as `resize` would, as far as LVM's state shows that */
  planResize(wanted: WantedResize, asker: PlanAsker): Promise<PlannedMutation>;
  /** Returns what `remove` would do now. @throws InfraError as `remove` would, as far as LVM's state shows that */
  planRemove(wanted: WantedRemove, asker: PlanAsker): Promise<PlannedMutation>;
  /** Returns what `createSnapshot` would do now. @throws InfraError as it would, as far as LVM's state shows that */
  planSnapshot(wanted: WantedSnapshot, asker: PlanAsker): Promise<PlannedMutation>;
  /** Calls back when LVM's state has changed, and also after a resize to the same size, which clients expect. */
  subscribe(onChange: () => void): () => void;
}

/** A refusal based on a state younger than this is final, so that repeatedly refused reads do not keep LVM busy. */
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
   * Runs a check against a snapshot of LVM's state. If it fails, LVM is read again and the check repeated, because LVM may have
   * changed without a notification.
   * @param maxAgeMs a failure is final if the snapshot is younger than this
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
   * Runs a change of one volume when its turn comes, checked against LVM's state at that moment. It does not run if its caller
   * has left by then, or if an operation works on the volume. Volumes of a thin pool share one queue, because only hostplane
   * enforces the pool's overprovisioning limit; the space of a group is enforced by LVM itself.
   */
  function run(change: VolumeChange, asker: Asker): Promise<Mutation> {
    const { name, deviceClass, describe } = change;
    const { volumeGroup, thinPool } = deviceClass;
    const resource = volumeResource(volumeGroup, name);
    asker.noteResource(resource);
    const describeFree = async () => {
      // Before LVM is read, so that the checks see the results of those commands.
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

  /** Returns the volumes of a class after a change; undefined if LVM cannot be read, since the change itself succeeded. */
  async function readVolumes({ deviceClass }: VolumeChange): Promise<readonly LogicalVolume[] | undefined> {
    const read = await resolve(deviceClass.name).catch(() => undefined);
    return read && volumesOf(read.resolved, read.snapshot.value);
  }

  /** Creates a volume and returns it as LVM then reports it. */
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
      throw new InfraError(
        lvmReasons.VOLUME_NOT_FOUND,
        `${name} was created, but removed outside hostplane immediately afterwards`,
        {
          resource,
        },
      );
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
        // Removed by another process between the check and the command: the volume is gone, as requested.
        const isGone = hasReason(error, lvmReasons.VOLUME_NOT_FOUND);
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
