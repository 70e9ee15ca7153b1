import { invalidField } from "../host/infra-error.ts";

// lvm(8), VALID NAMES, and what lvcreate 2.03.16 refused:
//   Names starting "snapshot" are reserved. Please choose a different LV name.
//   Names including "_cdata" are reserved. Please choose a different LV name.
const reservedPrefixes = ["snapshot", "pvmove"];
const reservedParts = [
  "_cdata",
  "_cmeta",
  "_corig",
  "_cvol",
  "_iorig",
  "_imeta",
  "_mimage",
  "_mlog",
  "_pmspare",
  "_rimage",
  "_rmeta",
  "_tdata",
  "_tmeta",
  "_vdata",
  "_vorigin",
  "_wcorig",
];
// `Internal error: LV name "vgt/aaa..." length 128 is not supported.` The length is that of both names and three more.
const maxNamesLength = 124;
// DM_NAME_LEN is 128 with the closing NUL. The device is named vg-lv, with each hyphen inside a name doubled.
const maxDeviceNameLength = 127;
const maxTagLength = 1024;

/**
 * Reports whether LVM reserves the name for its internal volumes (`pool_tmeta`, `lvol0_pmspare`, `snapshot1`). Such a
 * volume may exist, but users cannot create one.
 */
export function isReservedVolumeName(name: string): boolean {
  return reservedWord(name) !== undefined;
}

/**
 * Returns the name of the volume that an internal one belongs to: `pool` for `pool_tdata_rimage_0`. Other names are
 * returned as they are.
 */
export function holderOfInternalName(name: string): string {
  const starts = reservedParts.map((part) => name.indexOf(part)).filter((at) => at !== -1);
  return starts.length === 0 ? name : name.slice(0, Math.min(...starts));
}

/**
 * Rejects names that a logical volume cannot have, by the rules of lvm(8). An accepted name consists of
 * `[a-zA-Z0-9+_.-]` only and does not begin with a hyphen, so it is safe anywhere in an argv.
 * @param field the request's field, for the violation
 * @param volumeGroupName makes the length check exact, since LVM limits the length of both names together
 * @throws InfraError INVALID_FIELD
 */
export function assertVolumeName(name: string, field: string, volumeGroupName = ""): void {
  assertName(name, field);
  const reserved = reservedWord(name);
  if (reserved !== undefined) {
    throw invalidField(field, `must not ${reserved}, which LVM reserves`);
  }
  if (name.length + volumeGroupName.length > maxNamesLength) {
    const room = maxNamesLength - volumeGroupName.length;
    throw invalidField(field, `must be at most ${room} characters long, is ${name.length}`);
  }
  assertDeviceNameLength(name, field, volumeGroupName, maxDeviceNameLength);
}

/**
 * Rejects a copy-on-write snapshot whose device names would be too long: LVM also creates `...-cow` for the snapshot
 * and `...-real` for its origin. lvcreate notices too late: it prints `Aborting. Manual intervention required.` and
 * leaves an ordinary volume with the snapshot's name and tags.
 * @throws InfraError INVALID_FIELD
 */
export function assertSnapshotNames(volumeGroupName: string, name: string, originName: string): void {
  assertSnapshotName(volumeGroupName, name, "name");
  assertOriginName(volumeGroupName, originName, "originName");
}

/** Rejects a name that is too long for the devices of a thin pool, such as `..._tdata`. @throws InfraError INVALID_FIELD */
export function assertPoolName(volumeGroupName: string, name: string, field: string): void {
  assertVolumeName(name, field, volumeGroupName);
  assertDeviceNameLength(name, field, volumeGroupName, maxDeviceNameLength - "_tdata".length);
}

/** Rejects a name that is too long for a copy-on-write snapshot. @throws InfraError INVALID_FIELD */
export function assertSnapshotName(volumeGroupName: string, name: string, field: string): void {
  assertDeviceNameLength(name, field, volumeGroupName, maxDeviceNameLength - "-cow".length);
}

/** Rejects a name that is too long for a volume with copy-on-write snapshots. @throws InfraError INVALID_FIELD */
export function assertOriginName(volumeGroupName: string, name: string, field: string): void {
  assertDeviceNameLength(name, field, volumeGroupName, maxDeviceNameLength - "-real".length);
}

/**
 * Rejects names that a volume group cannot have.
 * @throws InfraError INVALID_FIELD
 */
export function assertVolumeGroupName(name: string, field: string): void {
  assertName(name, field);
  if (name.length > maxNamesLength) {
    throw invalidField(field, `must be at most ${maxNamesLength} characters long, is ${name.length}`);
  }
}

/**
 * Rejects tags that LVM does not accept. A valid tag has 1 to 1,024 characters of `[a-zA-Z0-9_+.-/=!:#&]`. lvm(8) also
 * forbids a leading hyphen, although lvcreate 2.03.16 accepted one.
 * @throws InfraError INVALID_FIELD
 */
export function assertTag(tag: string, field: string): void {
  if (tag === "") {
    throw invalidField(field, "must not be empty");
  }
  if (tag.length > maxTagLength) {
    throw invalidField(field, `must be at most ${maxTagLength} characters long, is ${tag.length}`);
  }
  if (tag.startsWith("-")) {
    throw invalidField(field, "must not begin with a hyphen");
  }
  if (!/^[a-zA-Z0-9_+.\-/=!:#&]+$/.test(tag)) {
    throw invalidField(field, "may contain only letters, digits and _ + . - / = ! : # &");
  }
}

/**
 * Returns the path of an active volume's block device. LVM maintains these links for all volumes with a device,
 * whatever their names.
 */
export function devicePathOf(volumeGroupName: string, name: string): string {
  return `/dev/${volumeGroupName}/${name}`;
}

/** Returns the resource name of a volume in errors, plans and events. */
export function volumeResource(volumeGroupName: string, name: string): string {
  return `${volumeGroupResource(volumeGroupName)}/volumes/${name}`;
}

/** Returns the resource name of a volume group in errors, plans and events. */
export function volumeGroupResource(name: string): string {
  return `volumeGroups/${name}`;
}

function assertName(name: string, field: string): void {
  if (name === "") {
    throw invalidField(field, "must not be empty");
  }
  if (name.startsWith("-")) {
    throw invalidField(field, "must not begin with a hyphen");
  }
  if (!/^[a-zA-Z0-9+_.-]+$/.test(name)) {
    throw invalidField(field, "may contain only letters, digits and + _ . -");
  }
  if (name === "." || name === "..") {
    throw invalidField(field, `must not be "${name}"`);
  }
}

function assertDeviceNameLength(
  name: string,
  field: string,
  volumeGroupName: string,
  maxLength: number,
): void {
  const deviceName = `${doubleHyphens(volumeGroupName)}-${doubleHyphens(name)}`;
  if (deviceName.length > maxLength) {
    const room = maxLength - deviceName.length + doubleHyphens(name).length;
    throw invalidField(field, `must be at most ${room} characters long when each hyphen counts twice`);
  }
}

function reservedWord(name: string): string | undefined {
  const prefix = reservedPrefixes.find((word) => name.startsWith(word));
  if (prefix !== undefined) {
    return `begin with "${prefix}"`;
  }
  const part = reservedParts.find((word) => name.includes(word));
  return part === undefined ? undefined : `contain "${part}"`;
}

function doubleHyphens(name: string): string {
  return name.replaceAll("-", "--");
}
