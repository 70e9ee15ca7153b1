import { InfraError, invalidField } from "../../../../../adapters/host/infra-error.ts";
import type { LvmState } from "../../../../../adapters/lvm/adapter.ts";
import { volumeResource } from "../../../../../adapters/lvm/names.ts";
import type { CreateVolumeRequest } from "../../../../../gen/csi/v1/csi_pb.ts";
import type { LocatedChange } from "../../../../domain/short-change.ts";
import { assertWhole } from "../../../../lvm/volume-refusals.ts";
import type { Mutation } from "../../../../operations/mutation.ts";
import { createCreateVolume } from "../../changes/create-volume.ts";
import { createSnapshotChecks } from "../../changes/snapshot-volume.ts";
import { factsOfVolume, stepOf, targetOf } from "../../changes/volume-change.ts";
import { assertResolved, createOptionsOf, type DeviceClass, findDeviceClass } from "../../device-class.ts";
import { minXfsBytes, parseCapabilities } from "../capability.ts";
import { type CapacityRange, isInRange, parseCapacityRange, sizeWithin } from "../capacity-range.ts";
import { type CsiSource, csiTags, nameDigestOf } from "../csi-marks.ts";
import type { CsiParts } from "../csi-parts.ts";
import {
  assertCsiName,
  type CsiVolume,
  findByName,
  logicalVolumeName,
  requireCsiVolume,
} from "../csi-volume.ts";
import { assertParameters, deviceClassFrom } from "../parameters.ts";
import { csiReasons } from "../reasons.ts";
import { isMet } from "../topology.ts";

/** A volume to create. */
export interface CreateCsiVolumeSpec {
  /** Name in CSI. */
  readonly name: string;
  /** Undefined until it is located: that of the source, else the default class. */
  readonly deviceClass: DeviceClass | undefined;
  readonly range: CapacityRange;
  /** Size that the file system needs, or a usual size if none is required. */
  readonly leastBytes: bigint;
  readonly source: CsiSource | undefined;
}

/** Size of a volume for which no size is required. */
const defaultBytes = 1n << 30n;

/** CreateVolume: creates an empty volume, or a clone of a thin volume or snapshot. Without a step if it exists. */
export function createCreateCsiVolume(
  parts: CsiParts,
): LocatedChange<CreateVolumeRequest, CreateCsiVolumeSpec, LvmState> {
  const { deviceClasses } = parts;
  return {
    /** @throws InfraError INVALID_FIELD, CSI_TOPOLOGY */
    parse(request) {
      const { name, parameters, mutableParameters, accessibilityRequirements } = request;
      assertCsiName(name);
      const capabilities = parseCapabilities(request.volumeCapabilities);
      assertParameters(mutableParameters, [], "mutable_parameters");
      const deviceClass = deviceClassFrom(parameters, deviceClasses);
      const range = parseCapacityRange(request.capacityRange);
      const source = sourceFrom(request);
      assertHere(parts, accessibilityRequirements);
      const isXfs = capabilities.some(({ fileSystem }) => fileSystem?.type === "xfs");
      return { name, deviceClass, range, leastBytes: isXfs ? minXfsBytes : 0n, source };
    },

    /** @throws InfraError VOLUME_NOT_FOUND */
    locate(spec, state) {
      const source = spec.source && requireCsiVolume(state, deviceClasses, spec.source.kind, spec.source.id);
      const deviceClass = spec.deviceClass ?? source?.deviceClass ?? findDeviceClass(deviceClasses, "");
      return { ...spec, deviceClass };
    },

    targetOf: (spec) => targetOf(placeOf(parts, spec)),

    /**
     * @throws InfraError VOLUME_GROUP_GONE, VOLUME_EXISTS, VOLUME_NOT_FOUND, NO_SPACE, CSI_DIFFERS, CSI_CAPACITY, INVALID_FIELD
     */
    check(spec, state) {
      const { deviceClass } = placeOf(parts, spec);
      const { group } = assertResolved(deviceClass, state);
      const existing = findByName(state, deviceClasses, "volume", spec.name);
      if (existing !== undefined) {
        return completion(parts, spec, existing, group.uuid);
      }
      if (spec.source !== undefined) {
        return clone(parts, spec, spec.source, state);
      }
      const usualBytes = spec.range.limitBytes ?? defaultBytes;
      const unrequiredBytes = usualBytes < defaultBytes ? usualBytes : defaultBytes;
      const leastBytes =
        spec.range.requiredBytes === 0n && spec.leastBytes === 0n ? unrequiredBytes : spec.leastBytes;
      const sizeBytes = sizeWithin(spec.range, leastBytes, group.extentSizeBytes);
      const { name } = placeOf(parts, spec);
      const tags = csiTags({
        kind: "volume",
        nameDigest: nameDigestOf(spec.name),
        sizeBytes,
        source: undefined,
      });
      const create = createCreateVolume(parts);
      return create.check(
        { name, deviceClass, tags, sizeBytes, options: createOptionsOf(deviceClass) },
        state,
      );
    },

    /** @throws InfraError VOLUME_GROUP_GONE */
    preflight(spec, state) {
      assertWhole(assertResolved(placeOf(parts, spec).deviceClass, state).group);
    },
  };
}

/** Returns the logical volume that the request is for. */
function placeOf(
  { deviceClasses, isProtectedName }: CsiParts,
  { name, deviceClass = findDeviceClass(deviceClasses, "") }: CreateCsiVolumeSpec,
): { readonly name: string; readonly deviceClass: DeviceClass } {
  return { name: logicalVolumeName("volume", name, deviceClass, isProtectedName), deviceClass };
}

/** @throws InfraError INVALID_FIELD */
function sourceFrom({ volumeContentSource }: CreateVolumeRequest): CsiSource | undefined {
  const type = volumeContentSource?.type;
  switch (type?.case) {
    case "volume":
      return { kind: "volume", id: type.value.volumeId };
    case "snapshot":
      return { kind: "snapshot", id: type.value.snapshotId };
    default:
      if (volumeContentSource !== undefined) {
        throw invalidField("volume_content_source", "must be a volume or a snapshot");
      }
      return undefined;
  }
}

/** @throws InfraError CSI_TOPOLOGY */
function assertHere(parts: CsiParts, requirement: CreateVolumeRequest["accessibilityRequirements"]): void {
  const { host, deviceClasses } = parts;
  if (!isMet(requirement, { driverName: parts.settings.driverName, host, deviceClasses })) {
    throw new InfraError(
      csiReasons.CSI_TOPOLOGY,
      `a volume here is accessible from host ${host} only, which is not among accessibility_requirements.requisite`,
    );
  }
}

/**
 * Returns the change for a volume that exists: none, or the rest of a clone whose creation was interrupted.
 * @throws InfraError CSI_DIFFERS
 */
function completion(
  { lvm }: CsiParts,
  spec: CreateCsiVolumeSpec,
  { volume, marks, deviceClass }: CsiVolume,
  groupUuid: string,
): Mutation {
  const { volumeGroupName, name } = volume;
  const resource = volumeResource(volumeGroupName, name);
  const difference =
    deviceClass.name !== spec.deviceClass?.name
      ? `it is of device class ${deviceClass.name}`
      : marks.source?.id !== spec.source?.id || marks.source?.kind !== spec.source?.kind
        ? `it was created ${marks.source === undefined ? "empty" : `from ${marks.source.kind} ${marks.source.id}`}`
        : isInRange(marks.sizeBytes, spec.range)
          ? undefined
          : `it was created with ${marks.sizeBytes} bytes`;
  if (difference !== undefined) {
    throw new InfraError(
      csiReasons.CSI_DIFFERS,
      `volume ${spec.name} exists as ${volumeGroupName}/${name}, but ${difference}`,
      { resource },
    );
  }
  const grown = { kind: "resize", volumeGroupName, name, sizeBytes: marks.sizeBytes } as const;
  const isWhole = volume.sizeBytes >= marks.sizeBytes;
  return {
    kind: "volumes.create",
    resource,
    backend: groupUuid,
    plan: {
      changes: isWhole
        ? []
        : [`${volumeGroupName}/${name} grows to ${marks.sizeBytes} bytes, as first requested`],
      losses: [],
      facts: factsOfVolume(volume),
    },
    steps: isWhole ? [] : [stepOf(lvm, grown)],
    pointOfNoReturn: 0,
  };
}

/** @throws InfraError VOLUME_NOT_FOUND, NO_SPACE, CSI_CAPACITY, INVALID_FIELD */
function clone(parts: CsiParts, spec: CreateCsiVolumeSpec, from: CsiSource, state: LvmState): Mutation {
  const { name, deviceClass } = placeOf(parts, spec);
  const source = requireCsiVolume(state, parts.deviceClasses, from.kind, from.id);
  const field = "volume_content_source";
  if (source.deviceClass.name !== deviceClass.name) {
    throw invalidField(
      field,
      `${from.id} is of device class ${source.deviceClass.name}, not ${deviceClass.name}`,
    );
  }
  if (deviceClass.thinPool === undefined) {
    throw invalidField(field, `${from.id} is not a thin volume; only these can be cloned`);
  }
  const { group } = assertResolved(deviceClass, state);
  const ofSource = source.volume.sizeBytes;
  const leastBytes = ofSource > spec.leastBytes ? ofSource : spec.leastBytes;
  const sizeBytes = sizeWithin(spec.range, leastBytes, group.extentSizeBytes);
  const tags = csiTags({ kind: "volume", nameDigest: nameDigestOf(spec.name), sizeBytes, source: from });
  const { name: sourceName } = source.volume;
  const snapshot = { name, deviceClass, sourceName, sizeBytes, tags, readOnly: false };
  return createSnapshotChecks(parts).check(snapshot, state);
}
