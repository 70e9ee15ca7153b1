import { InfraError, invalidField } from "../../../adapters/host/infra-error.ts";
import type { Snapshot } from "../../../adapters/host/snapshot.ts";
import type { LogicalVolume, LvmAdapter, LvmState } from "../../../adapters/lvm/adapter.ts";
import { assertTag, assertVolumeName, isReservedVolumeName } from "../../../adapters/lvm/names.ts";
import type { Mutation } from "../../operations/mutation.ts";
import type { InlineRunner } from "../../operations/run-inline.ts";
import type { Call } from "../../rpc/call.ts";
import {
  assertResolved,
  type DeviceClass,
  findDeviceClass,
  type ResolvedClass,
  volumesOf,
} from "./device-class.ts";
import { createIsProtectedName, isProtected, volumeResource } from "./protection.ts";
import { bytesFromSizeGb } from "./size.ts";
import { describeCreate, describeRemove, describeResize } from "./volume-mutations.ts";

export interface VolumesOptions {
  readonly lvm: LvmAdapter;
  readonly deviceClasses: readonly DeviceClass[];
  /** Patterns of names that are never removed or resized. */
  readonly protect: readonly string[];
  readonly runner: InlineRunner;
}

/** Each is two words of one command line, whose length the system limits. */
const maxTagCount = 256;

/** Who asks for a change: told what it is about, and may leave before it begins. */
export type Asker = Pick<Call, "signal" | "noteResource">;

/** The volumes of this host: the rules of the contract over LVM, without protocol or messages. */
export interface Volumes {
  readonly deviceClasses: readonly DeviceClass[];
  readState(signal: AbortSignal): Promise<Snapshot<LvmState>>;
  /** @throws InfraError DEVICE_CLASS_NOT_FOUND, VOLUME_GROUP_GONE */
  resolve(
    deviceClassName: string,
    signal: AbortSignal,
  ): Promise<{ readonly resolved: ResolvedClass; readonly snapshot: Snapshot<LvmState> }>;
  /** @throws InfraError as `describeCreate`, INVALID_FIELD, and what LVM refuses */
  create(
    wanted: {
      readonly name: string;
      readonly sizeGb: bigint;
      readonly tags: readonly string[];
      readonly deviceClass: string;
    },
    asker: Asker,
  ): Promise<LogicalVolume>;
  /** @throws InfraError as `describeResize`, INVALID_FIELD, and what LVM refuses */
  resize(
    wanted: { readonly name: string; readonly sizeGb: bigint; readonly deviceClass: string },
    asker: Asker,
  ): Promise<void>;
  /** @throws InfraError as `describeRemove`, INVALID_FIELD, and what LVM refuses */
  remove(wanted: { readonly name: string; readonly deviceClass: string }, asker: Asker): Promise<void>;
  /** Calls back when LVM's state has changed, and after a resize to the same size, as clients expect. */
  subscribe(onChange: () => void): () => void;
}

export function createVolumes(options: VolumesOptions): Volumes {
  const { lvm, deviceClasses, runner } = options;
  const isProtectedName = createIsProtectedName(options.protect);
  const listeners = new Set<() => void>();

  async function resolve(deviceClassName: string, signal?: AbortSignal) {
    const deviceClass = findDeviceClass(deviceClasses, deviceClassName);
    const snapshot = await lvm.read(signal);
    return { resolved: assertResolved(deviceClass, snapshot.value), snapshot };
  }

  /**
   * Runs a mutation of one volume once its turn has come, checked against the state of that moment; not at all
   * when its caller has left by then. Volumes of a thin pool take turns with each other: how much a pool may
   * promise is for us alone to hold, while LVM itself holds the space of a group.
   */
  function mutate(
    deviceClassName: string,
    name: string,
    asker: Asker,
    describe: (state: LvmState, resolved: ResolvedClass) => Mutation,
  ): Promise<Mutation> {
    const { volumeGroup, thinPool } = findDeviceClass(deviceClasses, deviceClassName);
    const describeNow = async () => {
      const { resolved, snapshot } = await resolve(deviceClassName);
      return describe(snapshot.value, resolved);
    };
    const resource = volumeResource(volumeGroup, name);
    asker.noteResource(resource);
    const turnOf = thinPool === undefined ? resource : volumeResource(volumeGroup, thinPool);
    return runner.run(turnOf, describeNow, asker.signal);
  }

  return {
    deviceClasses,
    readState: (signal) => lvm.read(signal),
    resolve,

    async create({ name, sizeGb, tags, deviceClass }, asker) {
      assertVolumeName(name, "name", findDeviceClass(deviceClasses, deviceClass).volumeGroup);
      if (tags.length > maxTagCount) {
        throw invalidField("tags", `must be at most ${maxTagCount}, are ${tags.length}`);
      }
      for (const [index, tag] of tags.entries()) {
        assertTag(tag, `tags[${index}]`);
      }
      const sizeBytes = bytesFromSizeGb(sizeGb);
      await mutate(deviceClass, name, asker, (state, resolved) =>
        describeCreate(lvm, state, resolved, { name, sizeBytes, tags }),
      );
      const { resolved, snapshot } = await resolve(deviceClass);
      const made = volumesOf(resolved, snapshot.value).find((volume) => volume.name === name);
      if (made === undefined) {
        throw new InfraError("VOLUME_NOT_FOUND", `${name} was made, and removed by somebody else at once`, {
          resource: volumeResource(resolved.group.name, name),
        });
      }
      return made;
    },

    async resize({ name, sizeGb, deviceClass }, asker) {
      assertChangeable(name, deviceClass);
      const sizeBytes = bytesFromSizeGb(sizeGb);
      const { steps } = await mutate(deviceClass, name, asker, (state, resolved) =>
        describeResize(lvm, state, resolved, { name, sizeBytes }, isProtectedName),
      );
      if (steps.length === 0) {
        for (const listener of listeners) {
          listener();
        }
      }
    },

    async remove({ name, deviceClass }, asker) {
      assertChangeable(name, deviceClass);
      try {
        await mutate(deviceClass, name, asker, (state, resolved) =>
          describeRemove(lvm, state, resolved, name, isProtectedName),
        );
      } catch (error) {
        // Somebody else has removed it between the check and the command: it is gone, as was asked.
        if (!(error instanceof InfraError && error.reason === "VOLUME_NOT_FOUND")) {
          throw error;
        }
      }
    },

    subscribe(onChange) {
      listeners.add(onChange);
      const unsubscribe = lvm.subscribe(onChange);
      return () => {
        listeners.delete(onChange);
        unsubscribe();
      };
    },
  };

  /** A name of LVM's own making (`x_tmeta`, `lvol0_pmspare`) is a volume all right, but nobody's to change. */
  function assertChangeable(name: string, deviceClassName: string): void {
    if (isReservedVolumeName(name)) {
      const volumeGroupName = findDeviceClass(deviceClasses, deviceClassName).volumeGroup;
      throw isProtected({ volumeGroupName, name }, "the name is reserved for volumes internal to LVM");
    }
    assertVolumeName(name, "name");
  }
}
