import { invalidField } from "../../../adapters/host/infra-error.ts";
import type { LvmAdapter, LvmState } from "../../../adapters/lvm/adapter.ts";
import { assertTag, assertVolumeName, isReservedVolumeName } from "../../../adapters/lvm/names.ts";
import { reservedTagStart } from "../../backups/lvm/operation-marks.ts";
import { assertWhole, isProtected } from "../../backups/lvm/volume-refusals.ts";
import type { Mutation } from "../../operations/mutation.ts";
import { assertResolved, type DeviceClass, findDeviceClass, type ResolvedClass } from "./device-class.ts";
import { assertClosed, assertNoActiveOrigin, type IsProtectedName } from "./protection.ts";
import { bytesFromSizeGb } from "./size.ts";
import { describeCreate, describeRemove, describeResize } from "./volume-mutations.ts";

export interface WantedRemove {
  readonly name: string;
  /** Name of the device class; empty for the default one. */
  readonly deviceClass: string;
}

export interface WantedResize extends WantedRemove {
  readonly sizeGb: bigint;
}

export interface WantedCreate extends WantedResize {
  readonly tags: readonly string[];
  /** What the request calls the name, for a refusal; `name` when absent. */
  readonly nameField?: string;
}

/** A change of one volume, whose request has passed every check that needs no look at LVM. */
export interface VolumeChange {
  readonly name: string;
  readonly deviceClass: DeviceClass;
  /**
   * Checks the change against LVM's state and describes what it would do.
   * @throws InfraError VOLUME_GROUP_GONE, and as `describeCreate`, `describeResize` and `describeRemove`
   */
  describe(state: LvmState): Mutation;
  /**
   * Refuses what LVM will refuse when the command runs, as far as the state shows that. For plans: a change asks LVM.
   * @throws InfraError VOLUME_GROUP_GONE, VOLUME_IN_USE, VOLUME_PROTECTED
   */
  foresee(state: LvmState): void;
}

/** Checks requests for changes of volumes; everything else of a change is the same whether it is run or planned. */
export interface VolumeChanges {
  /** @throws InfraError DEVICE_CLASS_NOT_FOUND, INVALID_FIELD */
  create(wanted: WantedCreate): VolumeChange;
  /** @throws InfraError DEVICE_CLASS_NOT_FOUND, INVALID_FIELD, VOLUME_PROTECTED */
  resize(wanted: WantedResize): VolumeChange;
  /** @throws InfraError DEVICE_CLASS_NOT_FOUND, INVALID_FIELD, VOLUME_PROTECTED */
  remove(wanted: WantedRemove): VolumeChange;
}

/** Each is two words of one command line, whose length the system limits. */
const maxTagCount = 256;

export function createVolumeChanges(options: {
  readonly lvm: LvmAdapter;
  readonly deviceClasses: readonly DeviceClass[];
  readonly isProtectedName: IsProtectedName;
}): VolumeChanges {
  const { lvm, deviceClasses, isProtectedName } = options;

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
      const sizeBytes = bytesFromSizeGb(wanted.sizeGb);
      return changeOf(
        name,
        deviceClass,
        (state, resolved) => describeCreate(lvm, state, resolved, { name, sizeBytes, tags }),
        (_state, { group }) => assertWhole(group),
      );
    },

    resize(wanted) {
      const { name } = wanted;
      const deviceClass = findDeviceClass(deviceClasses, wanted.deviceClass);
      assertChangeable(name, deviceClass);
      const sizeBytes = bytesFromSizeGb(wanted.sizeGb);
      return changeOf(
        name,
        deviceClass,
        (state, resolved) => describeResize(lvm, state, resolved, { name, sizeBytes }, isProtectedName),
        (state, { group }) => {
          assertWhole(group);
          assertNoActiveOrigin(state, group.name, name);
        },
      );
    },

    remove(wanted) {
      const { name } = wanted;
      const deviceClass = findDeviceClass(deviceClasses, wanted.deviceClass);
      assertChangeable(name, deviceClass);
      return changeOf(
        name,
        deviceClass,
        (state, resolved) => describeRemove(lvm, state, resolved, name, isProtectedName),
        (state, { group }) => assertClosed(state, group.name, name),
      );
    },
  };
}

function assertTags(tags: readonly string[]): void {
  if (tags.length > maxTagCount) {
    throw invalidField("tags", `must be at most ${maxTagCount}, are ${tags.length}`);
  }
  for (const [index, tag] of tags.entries()) {
    assertTag(tag, `tags[${index}]`);
    if (tag.startsWith(reservedTagStart)) {
      throw invalidField(
        `tags[${index}]`,
        `must not begin with ${reservedTagStart}, as the gateway's own do`,
      );
    }
  }
}

/** A name of LVM's own making (`x_tmeta`, `lvol0_pmspare`) is a volume all right, but nobody's to change. */
function assertChangeable(name: string, { volumeGroup }: DeviceClass): void {
  if (isReservedVolumeName(name)) {
    throw isProtected(
      { volumeGroupName: volumeGroup, name },
      "the name is reserved for volumes internal to LVM",
    );
  }
  assertVolumeName(name, "name");
}
