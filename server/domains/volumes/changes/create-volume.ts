import { describeSize } from "../../../../adapters/host/describe-size.ts";
import { invalidField } from "../../../../adapters/host/infra-error.ts";
import type { LvmState, LvmStep } from "../../../../adapters/lvm/adapter.ts";
import { parseCreateOptions } from "../../../../adapters/lvm/create-options.ts";
import { assertVolumeName, volumeResource } from "../../../../adapters/lvm/names.ts";
import type { CreateVolumeRequest } from "../../../../gen/hostplane/v1/volume_pb.ts";
import type { ShortChange } from "../../../domain/short-change.ts";
import { roundUpToExtents } from "../../../lvm/extents.ts";
import { assertWhole } from "../../../lvm/volume-refusals.ts";
import {
  assertResolved,
  createOptionsOf,
  type DeviceClass,
  findDeviceClass,
  type ResolvedClass,
} from "../device-class.ts";
import { bytesFromSize, type RequestedSize } from "../size.ts";
import {
  assertNameFree,
  assertNewName,
  assertSpace,
  assertTags,
  describeTags,
  factsOfSpace,
  stepOf,
  targetOf,
  type VolumeChangeParts,
  type VolumeSpec,
} from "./volume-change.ts";

/** A volume to create, as a request describes it. */
export interface NewVolume {
  readonly name: string;
  /** Name of the device class; empty for the default class. */
  readonly deviceClass: string;
  readonly size: RequestedSize;
  readonly tags: readonly string[];
  /** Request field that holds the name, for error messages. Default: `name`. */
  readonly nameField?: string;
  /** Name of the option class that replaces the device class's lvcreate options. */
  readonly optionClass?: string;
  /** Request field that holds it, for error messages. Default: `lvcreate_option_class`. */
  readonly optionClassField?: string;
}

export interface CreateSpec extends VolumeSpec {
  readonly sizeBytes: bigint;
  readonly tags: readonly string[];
  /** Options for lvcreate. */
  readonly options: readonly string[];
}

/** The creation of a volume, whose request is independent of the caller. */
export type CreateVolume = ShortChange<NewVolume, CreateSpec, LvmState> & {
  parse(request: NewVolume): CreateSpec;
};

/** Checks that a new volume could be changed later. @throws InfraError INVALID_FIELD if its name is protected */
export function createNamedVolume(
  parts: VolumeChangeParts,
): ShortChange<CreateVolumeRequest, CreateSpec, LvmState> {
  const creation = createCreateVolume(parts);
  return {
    ...creation,
    parse({ name, deviceClass, sizeBytes, optionClass, tags }) {
      assertNewName(name, "name", findDeviceClass(parts.deviceClasses, deviceClass), parts.isProtectedName);
      return creation.parse({
        name,
        deviceClass,
        size: { bytes: sizeBytes },
        tags,
        ...(optionClass === "" ? {} : { optionClass, optionClassField: "option_class" }),
      });
    },
  };
}

/** The step that creates a volume. */
export type LvmCreateStep = Extract<LvmStep, { kind: "create" }>;

/**
 * volumes.create: creates a volume. As in the original server, it may use the class's spare: that space is reserved for
 * snapshots and not reported as free, but it is not forbidden.
 */
export function createCreateVolume(parts: Omit<VolumeChangeParts, "isProtectedName">): CreateVolume {
  return {
    /** @throws InfraError DEVICE_CLASS_NOT_FOUND, INVALID_FIELD */
    parse(request) {
      const { name, nameField = "name", tags } = request;
      const deviceClass = findDeviceClass(parts.deviceClasses, request.deviceClass);
      assertVolumeName(name, nameField, deviceClass.volumeGroup);
      assertTags(tags);
      const sizeBytes = bytesFromSize(request.size);
      return {
        name,
        deviceClass,
        tags,
        sizeBytes,
        options: optionsFor(parts, deviceClass, request),
      };
    },

    targetOf,

    /** @throws InfraError VOLUME_GROUP_GONE, VOLUME_EXISTS, NO_SPACE */
    check(spec, state) {
      const resolved = assertResolved(spec.deviceClass, state);
      const { group } = resolved;
      const step = createVolumeStep(state, resolved, spec);
      return {
        kind: "volumes.create",
        resource: volumeResource(group.name, spec.name),
        backend: group.uuid,
        plan: {
          changes: [describeCreation(resolved, spec)],
          losses: [],
          facts: factsOfSpace(resolved, roundUpToExtents(spec.sizeBytes, group.extentSizeBytes)),
        },
        steps: [stepOf(parts.lvm, step)],
        pointOfNoReturn: 0,
      };
    },

    /** @throws InfraError VOLUME_GROUP_GONE */
    preflight({ deviceClass }, state) {
      assertWhole(assertResolved(deviceClass, state).group);
    },
  };
}

/**
 * Returns the step that creates a volume.
 * @param spec options: those of the device class if absent
 * @throws InfraError VOLUME_EXISTS, NO_SPACE
 */
export function createVolumeStep(
  state: LvmState,
  resolved: ResolvedClass,
  spec: Pick<CreateSpec, "name" | "sizeBytes" | "tags"> & { readonly options?: readonly string[] },
): LvmCreateStep {
  const { group, pool, deviceClass } = resolved;
  const { name, sizeBytes, tags, options = createOptionsOf(deviceClass) } = spec;
  assertNameFree(state, group.name, name);
  assertSpace(resolved, state, roundUpToExtents(sizeBytes, group.extentSizeBytes));
  return {
    kind: "create",
    volumeGroupName: group.name,
    name,
    sizeBytes,
    tags,
    ...(options.length === 0 ? {} : { options }),
    ...(pool === undefined ? {} : { thinPoolName: pool.name }),
  };
}

/** @throws InfraError INVALID_FIELD */
function optionsFor(
  { lvcreateOptionClasses = [] }: Pick<VolumeChangeParts, "lvcreateOptionClasses">,
  deviceClass: DeviceClass,
  { optionClass, optionClassField: field = "lvcreate_option_class" }: NewVolume,
): readonly string[] {
  if (optionClass === undefined) {
    return createOptionsOf(deviceClass);
  }
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

function describeCreation(
  { group, pool }: ResolvedClass,
  { name, sizeBytes, tags, options }: CreateSpec,
): string {
  const size = describeSize(roundUpToExtents(sizeBytes, group.extentSizeBytes));
  const place = pool === undefined ? "" : ` in thin pool ${group.name}/${pool.name}`;
  const words = options.length === 0 ? "" : `, with the lvcreate options ${options.join(" ")}`;
  return `${group.name}/${name} is created with ${size}${place}${words}${describeTags(tags)}`;
}
