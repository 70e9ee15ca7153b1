import { InfraError, invalidField } from "../../../../adapters/host/infra-error.ts";
import type { LogicalVolume, LvmState } from "../../../../adapters/lvm/adapter.ts";
import { assertOriginName, assertVolumeName, volumeResource } from "../../../../adapters/lvm/names.ts";
import { lvmReasons } from "../../../../adapters/lvm/reasons.ts";
import { isTemporary, reservedTagStart } from "../../../lvm/operation-marks.ts";
import { type DeviceClass, deviceClassOf } from "../device-class.ts";
import type { IsProtectedName } from "../protection.ts";
import { type CsiKind, type CsiMarks, csiMarksOf, nameDigestOf } from "./csi-marks.ts";

/** A logical volume that was created through CSI, with the device class that addresses it. */
export interface CsiVolume {
  readonly id: string;
  readonly volume: LogicalVolume;
  readonly marks: CsiMarks;
  readonly deviceClass: DeviceClass;
}

/** Limit of the specification for names and IDs; two names of LVM together are shorter. */
const maxCsiBytes = 128;

/** Prefix of names that the driver generates where LVM does not allow the name in CSI. */
const generatedPrefix = "csi-";

/** Returns the ID of a volume or snapshot: `vg0/data`. */
export function csiIdOf({ volumeGroupName, name }: Pick<LogicalVolume, "volumeGroupName" | "name">): string {
  return `${volumeGroupName}/${name}`;
}

/** Returns the name of the volume group in an ID; empty for an ID of another form. */
export function groupOfId(id: string): string {
  return id.slice(0, Math.max(0, id.indexOf("/")));
}

/** Returns the resource name of the volume with an ID, as in events. An ID of another form gives one that does not exist. */
export function resourceOfId(id: string): string {
  return volumeResource(groupOfId(id), id.slice(id.indexOf("/") + 1));
}

/** @throws InfraError INVALID_FIELD */
export function assertId(id: string, field: string): void {
  if (id === "") {
    throw invalidField(field, "must not be empty");
  }
  assertLength(id, field);
}

/** @throws InfraError INVALID_FIELD */
function assertLength(text: string, field: string): void {
  const length = Buffer.byteLength(text);
  if (length > maxCsiBytes) {
    throw invalidField(field, `must have at most ${maxCsiBytes} bytes, has ${length}`);
  }
}

/** @throws InfraError INVALID_FIELD */
export function assertCsiName(name: string): void {
  if (name === "") {
    throw invalidField("name", "must not be empty");
  }
  assertLength(name, "name");
  // The specification allows tab, line feed and carriage return.
  if (/(?![\t\n\r])\p{Cc}/u.test(name)) {
    throw invalidField("name", "must not contain control characters");
  }
}

/**
 * Returns the name of the logical volume for a volume in CSI: the same one where LVM allows it and it is not protected, else one
 * that is generated from its digest. Names of snapshots are always generated, since a volume may have the same name.
 */
export function logicalVolumeName(
  kind: CsiKind,
  name: string,
  { volumeGroup }: DeviceClass,
  isProtectedName: IsProtectedName,
): string {
  const generated = `${generatedPrefix}${kind === "snapshot" ? "snap-" : ""}${nameDigestOf(name)}`;
  const isReserved =
    name.startsWith(generatedPrefix) || name.startsWith(reservedTagStart) || isProtectedName(name);
  if (kind === "snapshot" || isReserved) {
    return generated;
  }
  try {
    assertVolumeName(name, "name", volumeGroup);
    assertOriginName(volumeGroup, name, "name");
    return name;
  } catch {
    return generated;
  }
}

/** Returns the volumes or snapshots that were created through CSI, by ID. */
export function listCsiVolumes(
  state: LvmState,
  deviceClasses: readonly DeviceClass[],
  kind: CsiKind,
): CsiVolume[] {
  return state.volumes
    .flatMap((volume) => csiVolumeFrom(volume, deviceClasses) ?? [])
    .filter(({ marks }) => marks.kind === kind)
    .sort((one, other) => (one.id < other.id ? -1 : 1));
}

/** Returns the volume or snapshot with an ID; undefined if there is none. */
export function findCsiVolume(
  state: LvmState,
  deviceClasses: readonly DeviceClass[],
  kind: CsiKind,
  id: string,
): CsiVolume | undefined {
  const volume = state.volumes.find((each) => csiIdOf(each) === id);
  const found = volume && csiVolumeFrom(volume, deviceClasses);
  return found?.marks.kind === kind ? found : undefined;
}

/**
 * Returns the volume that had an ID when it was created, also if it or its group was renamed since, which changes the ID; undefined if
 * there is none.
 */
export function findCreatedAs(
  state: LvmState,
  deviceClasses: readonly DeviceClass[],
  id: string,
): CsiVolume | undefined {
  const name = id.slice(id.indexOf("/") + 1);
  const digest = name.startsWith(generatedPrefix) ? name.slice(generatedPrefix.length) : nameDigestOf(name);
  return listCsiVolumes(state, deviceClasses, "volume").find(({ marks }) => marks.nameDigest === digest);
}

/** @throws InfraError VOLUME_NOT_FOUND */
export function requireCsiVolume(
  state: LvmState,
  deviceClasses: readonly DeviceClass[],
  kind: CsiKind,
  id: string,
): CsiVolume {
  const found = findCsiVolume(state, deviceClasses, kind, id);
  if (found === undefined) {
    throw new InfraError(lvmReasons.VOLUME_NOT_FOUND, `${kind} ${id} not found`, {
      resource: resourceOfId(id),
    });
  }
  return found;
}

/** Returns the volume or snapshot with a name in CSI, in any device class; undefined if there is none. */
export function findByName(
  state: LvmState,
  deviceClasses: readonly DeviceClass[],
  kind: CsiKind,
  name: string,
): CsiVolume | undefined {
  const digest = nameDigestOf(name);
  return listCsiVolumes(state, deviceClasses, kind).find(({ marks }) => marks.nameDigest === digest);
}

/** A volume that an operation still fills has the tags already, but does not exist in CSI yet. */
function csiVolumeFrom(volume: LogicalVolume, deviceClasses: readonly DeviceClass[]): CsiVolume | undefined {
  const marks = isTemporary(volume) ? undefined : csiMarksOf(volume);
  const className = deviceClassOf(volume, deviceClasses);
  const deviceClass = deviceClasses.find(({ name }) => name === className);
  return marks === undefined || deviceClass === undefined
    ? undefined
    : { id: csiIdOf(volume), volume, marks, deviceClass };
}
