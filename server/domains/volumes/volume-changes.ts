import { invalidField } from "../../../adapters/host/infra-error.ts";
import type { LvmAdapter, LvmState } from "../../../adapters/lvm/adapter.ts";
import { parseCreateOptions } from "../../../adapters/lvm/create-options.ts";
import { assertTag, assertVolumeName, isReservedVolumeName } from "../../../adapters/lvm/names.ts";
import { reservedTagStart } from "../../backups/lvm/operation-marks.ts";
import { assertWhole, isProtected } from "../../backups/lvm/volume-refusals.ts";
import type { Mutation } from "../../operations/mutation.ts";
import {
  assertResolved,
  createOptionsOf,
  type DeviceClass,
  findDeviceClass,
  type LvcreateOptionClass,
  type ResolvedClass,
} from "./device-class.ts";
import { assertClosed, assertNoActiveOrigin, type IsProtectedName } from "./protection.ts";
import { bytesFromSize, type WantedSize } from "./size.ts";
import { describeCreate, describeRemove, describeResize } from "./volume-mutations.ts";
import { describeSnapshot } from "./volume-snapshots.ts";

interface WantedVolume {
  readonly name: string;
  /** Name of the device class; empty for the default class. */
  readonly deviceClass: string;
}

export interface WantedRemove extends WantedVolume {
  /** Whether a missing volume is VOLUME_NOT_FOUND; otherwise it counts as removed. */
  readonly mustExist?: boolean;
}

export interface WantedResize extends WantedVolume {
  readonly size: WantedSize;
  /** Whether a volume that is already larger stays unchanged; otherwise the request is SHRINK_NOT_ALLOWED. */
  readonly skipsShrinking?: boolean;
}

export interface WantedCreate extends WantedVolume {
  readonly size: WantedSize;
  readonly tags: readonly string[];
  /** Request field that holds the name, for error messages; `name` when absent. */
  readonly nameField?: string;
  /** Name of the option class that replaces the device class's lvcreate options. */
  readonly optionClass?: string;
}

export interface WantedSnapshot extends WantedVolume {
  readonly sourceName: string;
  /** Undefined: the size of the source. */
  readonly size: WantedSize | undefined;
  readonly tags: readonly string[];
  readonly readOnly: boolean;
}

/** A change of one volume. Its request has passed every check that does not need LVM's state. */
export interface VolumeChange {
  readonly name: string;
  /** Name of the volume that a snapshot is taken of; absent for other changes. */
  readonly sourceName?: string;
  readonly deviceClass: DeviceClass;
  /**
   * Checks the change against LVM's state and describes what it would do.
   * @throws InfraError VOLUME_GROUP_GONE, and as `describeCreate`, `describeResize`, `describeRemove` and `describeSnapshot`
   */
  describe(state: LvmState): Mutation;
  /**
   * Rejects what LVM would reject when the command runs, as far as the state shows it. Used before anything runs: by plans,
   * and by restores before they begin. Other changes rely on LVM itself.
   * @throws InfraError VOLUME_GROUP_GONE, VOLUME_IN_USE, VOLUME_PROTECTED
   */
  foresee(state: LvmState): void;
}

/** Validates requests for volume changes. The resulting change can be run or planned. */
export interface VolumeChanges {
  /** @throws InfraError DEVICE_CLASS_NOT_FOUND, INVALID_FIELD */
  create(wanted: WantedCreate): VolumeChange;
  /** @throws InfraError DEVICE_CLASS_NOT_FOUND, INVALID_FIELD, VOLUME_PROTECTED */
  resize(wanted: WantedResize): VolumeChange;
  /** @throws InfraError DEVICE_CLASS_NOT_FOUND, INVALID_FIELD, VOLUME_PROTECTED */
  remove(wanted: WantedRemove): VolumeChange;
  /** @throws InfraError DEVICE_CLASS_NOT_FOUND, INVALID_FIELD */
  snapshot(wanted: WantedSnapshot): VolumeChange;
}

/** Each tag adds two arguments to one command line, whose length the system limits. */
const maxTagCount = 256;

export function createVolumeChanges(options: {
  readonly lvm: LvmAdapter;
  readonly deviceClasses: readonly DeviceClass[];
  readonly lvcreateOptionClasses?: readonly LvcreateOptionClass[];
  readonly isProtectedName: IsProtectedName;
}): VolumeChanges {
  const { lvm, deviceClasses, lvcreateOptionClasses = [], isProtectedName } = options;

  /** @throws InfraError INVALID_FIELD */
  function wordsFor(deviceClass: DeviceClass, optionClass: string | undefined): readonly string[] {
    if (optionClass === undefined) {
      return createOptionsOf(deviceClass);
    }
    const field = "lvcreate_option_class";
    if (deviceClass.thinPool !== undefined) {
      throw invalidField(field, `${deviceClass.name} creates thin volumes, which accept no lvcreate options`);
    }
    const found = lvcreateOptionClasses.find(({ name }) => name === optionClass);
    if (found === undefined) {
      const known = lvcreateOptionClasses.map(({ name }) => name).join(", ") || "none";
      throw invalidField(field, `${JSON.stringify(optionClass)} is not configured (available: ${known})`);
    }
    return parseCreateOptions(found.options, field);
  }

  function changeOf(
    name: string,
    deviceClass: DeviceClass,
    describe: (state: LvmState, resolved: ResolvedClass) => Mutation,
    foresee: (state: LvmState, resolved: ResolvedClass) => void,
  ): VolumeChange {
    return {
      name,
      deviceClass,
      describe: (state) => describe(state, assertResolved(deviceClass, state)),
      foresee: (state) => foresee(state, assertResolved(deviceClass, state)),
    };
  }

  return {
    create(wanted) {
      const { name, nameField = "name", tags } = wanted;
      const deviceClass = findDeviceClass(deviceClasses, wanted.deviceClass);
      assertVolumeName(name, nameField, deviceClass.volumeGroup);
      assertTags(tags);
      const sizeBytes = bytesFromSize(wanted.size);
      const options = wordsFor(deviceClass, wanted.optionClass);
      return changeOf(
        name,
        deviceClass,
        (state, resolved) => describeCreate(lvm, state, resolved, { name, sizeBytes, tags, options }),
        (_state, { group }) => assertWhole(group),
      );
    },

    resize(wanted) {
      const { name, skipsShrinking = false } = wanted;
      const deviceClass = findDeviceClass(deviceClasses, wanted.deviceClass);
      assertChangeable(name, deviceClass);
      const sizeBytes = bytesFromSize(wanted.size);
      return changeOf(
        name,
        deviceClass,
        (state, resolved) =>
          describeResize(lvm, state, resolved, { name, sizeBytes, skipsShrinking }, isProtectedName),
        (state, { group }) => {
          assertWhole(group);
          assertNoActiveOrigin(state, group.name, name);
        },
      );
    },

    remove(wanted) {
      const { name, mustExist = false } = wanted;
      const deviceClass = findDeviceClass(deviceClasses, wanted.deviceClass);
      assertChangeable(name, deviceClass);
      return changeOf(
        name,
        deviceClass,
        (state, resolved) => describeRemove(lvm, state, resolved, { name, mustExist }, isProtectedName),
        (state, { group }) => assertClosed(state, group.name, name),
      );
    },

    snapshot(wanted) {
      const { name, sourceName, tags, readOnly } = wanted;
      const deviceClass = findDeviceClass(deviceClasses, wanted.deviceClass);
      assertVolumeName(name, "name", deviceClass.volumeGroup);
      assertVolumeName(sourceName, "source_volume");
      assertTags(tags);
      const sizeBytes = wanted.size && bytesFromSize(wanted.size);
      const change = changeOf(
        name,
        deviceClass,
        (state, resolved) =>
          describeSnapshot(lvm, state, resolved, { name, sourceName, sizeBytes, tags, readOnly }),
        (_state, { group }) => assertWhole(group),
      );
      return { ...change, sourceName };
    },
  };
}

function assertTags(tags: readonly string[]): void {
  if (tags.length > maxTagCount) {
    throw invalidField("tags", `must have at most ${maxTagCount} entries, has ${tags.length}`);
  }
  for (const [index, tag] of tags.entries()) {
    assertTag(tag, `tags[${index}]`);
    if (tag.startsWith(reservedTagStart)) {
      throw invalidField(
        `tags[${index}]`,
        `must not begin with ${reservedTagStart}, which is reserved for the gateway`,
      );
    }
  }
}

/**
 * Rejects names that LVM reserves for its internal volumes (`x_tmeta`, `lvol0_pmspare`). Such volumes exist, but must not
 * be changed.
 * @throws InfraError VOLUME_PROTECTED, INVALID_FIELD
 */
function assertChangeable(name: string, { volumeGroup }: DeviceClass): void {
  if (isReservedVolumeName(name)) {
    throw isProtected(
      { volumeGroupName: volumeGroup, name },
      "the name is reserved for LVM's internal volumes",
    );
  }
  assertVolumeName(name, "name");
}
