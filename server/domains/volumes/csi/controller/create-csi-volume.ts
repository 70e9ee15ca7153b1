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
import { leastBytesOf, parseCapabilities } from "../capability.ts";
import { parseCapacityRange } from "../capacity-range.ts";
import { type CsiSource, csiTags, nameDigestOf } from "../csi-marks.ts";
import type { CsiParts } from "../csi-parts.ts";
import { assertCsiName, type CsiVolume, findByName, findCsiVolume, requireCsiVolume } from "../csi-volume.ts";
import { assertParameters, deviceClassFrom } from "../parameters.ts";
import { csiReasons } from "../reasons.ts";
import { isMet } from "../topology.ts";
import {
  allocationUnitBytes,
  assertCompatible,
  type CreateCsiVolumeSpec,
  cloneSpecOf,
  emptySizeOf,
  placeOf,
} from "./requested-volume.ts";

/** The creation of a volume, whose request is independent of the caller. */
export type CreateCsiVolume = LocatedChange<CreateVolumeRequest, CreateCsiVolumeSpec, LvmState> & {
  parse(request: CreateVolumeRequest): CreateCsiVolumeSpec;
};

/**
 * CreateVolume: creates an empty volume, or a clone of a thin volume or snapshot. Without a step if it exists. Thick clones are
 * those of `createCopyCsiVolume`.
 */
export function createCreateCsiVolume(parts: CsiParts): CreateCsiVolume {
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
      return { name, deviceClass, range, leastBytes: leastBytesOf(capabilities), source };
    },

    /** @throws InfraError VOLUME_NOT_FOUND */
    locate(spec, state) {
      const existing = findByName(state, deviceClasses, "volume", spec.name);
      // A clone that exists is returned even if its source is gone.
      const find = existing === undefined ? requireCsiVolume : findCsiVolume;
      const source = spec.source && find(state, deviceClasses, spec.source.kind, spec.source.id);
      const ofSource = spec.source && (source ?? existing)?.deviceClass;
      const deviceClass = spec.deviceClass ?? ofSource ?? findDeviceClass(deviceClasses, "");
      return { ...spec, deviceClass };
    },

    targetOf: (spec) => targetOf(placeOf(parts, spec)),

    /**
     * @throws InfraError VOLUME_GROUP_GONE, VOLUME_EXISTS, VOLUME_NOT_FOUND, NO_SPACE, CSI_DIFFERS, CSI_CAPACITY, CSI_PENDING,
     * INVALID_FIELD
     */
    check(spec, state) {
      const { deviceClass } = placeOf(parts, spec);
      const resolved = assertResolved(deviceClass, state);
      const existing = findByName(state, deviceClasses, "volume", spec.name);
      if (existing !== undefined) {
        return completion(parts, spec, existing, resolved.group.uuid);
      }
      if (spec.source !== undefined) {
        assertThin(deviceClass, spec.name);
        return createSnapshotChecks(parts).check(cloneSpecOf(parts, spec, spec.source, state), state);
      }
      const { name } = placeOf(parts, spec);
      const sizeBytes = emptySizeOf(spec, allocationUnitBytes(resolved));
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
  { id, volume, marks, deviceClass }: CsiVolume,
  groupUuid: string,
): Mutation {
  const { volumeGroupName, name } = volume;
  assertCompatible(spec, { id, marks, className: deviceClass.name });
  const grown = { kind: "resize", volumeGroupName, name, sizeBytes: marks.sizeBytes } as const;
  const isWhole = volume.sizeBytes >= marks.sizeBytes;
  return {
    kind: "volumes.create",
    resource: volumeResource(volumeGroupName, name),
    backend: groupUuid,
    plan: {
      changes: isWhole ? [] : [`${id} grows to ${marks.sizeBytes} bytes, as first requested`],
      losses: [],
      facts: factsOfVolume(volume),
    },
    steps: isWhole ? [] : [stepOf(lvm, grown)],
    pointOfNoReturn: 0,
  };
}

/** Refuses what only an operation can create: the clone existed a moment before. @throws InfraError CSI_PENDING */
function assertThin({ thinPool }: DeviceClass, name: string): void {
  if (thinPool === undefined) {
    throw new InfraError(csiReasons.CSI_PENDING, `volume ${name} was removed meanwhile; repeat the call`);
  }
}
