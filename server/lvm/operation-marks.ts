import type { LogicalVolume } from "../../adapters/lvm/adapter.ts";

/** Prefix of the gateway's own tags. Users cannot set such tags through the gateway, and the gateway does not show them. */
export const reservedTagStart = "hostplane-";

const operationTagStart = `${reservedTagStart}operation-`;
const finalNameTagStart = `${reservedTagStart}volume=`;

/** Returns the LVM tag of a volume that an operation has created, until the operation has ended. */
export function operationTag(operationId: string): string {
  return operationTagStart + operationId;
}

/** Returns the LVM tag with the name that a volume will have once it is complete. */
export function finalNameTag(name: string): string {
  return finalNameTagStart + name;
}

/** Volumes that operations create under a temporary name: two snapshots to read, and two new volumes to fill. */
export type TemporaryKind = "backup" | "source" | "restore" | "clone";

/** Returns a volume's temporary name during an operation. LVM limits the length of names, so it contains a part of the ID. */
export function temporaryName(what: TemporaryKind, operationId: string): string {
  return `hostplane-${what}-${operationId.replaceAll("-", "").slice(-12)}`;
}

/** Returns the ID of the operation that has created a volume and will remove or release it; undefined for ordinary volumes. */
export function operationOf({ tags }: Pick<LogicalVolume, "tags">): string | undefined {
  return textBehind(tags, operationTagStart);
}

/** Reports whether a volume is the snapshot that a backup reads; it is removed when the backup ends. */
export function isBackupSnapshot({ name, tags }: Pick<LogicalVolume, "name" | "tags">): boolean {
  return name.startsWith("hostplane-backup-") && operationOf({ tags }) !== undefined;
}

/**
 * Reports whether a volume is temporary, created by an operation for itself. A volume that already has its final name is
 * complete, although a tag may still be set.
 */
export function isTemporary({ name, tags }: Pick<LogicalVolume, "name" | "tags">): boolean {
  return /^hostplane-(backup|source|restore|clone)-/.test(name) && operationOf({ tags }) !== undefined;
}

/** Reports whether a volume is, or is about to become, the one that its operation was begun for; otherwise it is a snapshot. */
export function isResult({ tags }: Pick<LogicalVolume, "tags">): boolean {
  return textBehind(tags, finalNameTagStart) !== undefined;
}

/** Returns the name of a volume for display: a volume that is being filled has its final name. */
export function shownName({ name, tags }: Pick<LogicalVolume, "name" | "tags">): string {
  return /^hostplane-(restore|clone)-/.test(name) ? (textBehind(tags, finalNameTagStart) ?? name) : name;
}

/** Converts a volume for display: one that is being filled cannot be opened, and is shown without a device. */
export function shownVolume(volume: LogicalVolume): LogicalVolume {
  const name = shownName(volume);
  const tags = volume.tags.filter((tag) => !tag.startsWith(reservedTagStart));
  return name === volume.name
    ? { ...volume, tags }
    : { ...volume, tags, name, device: undefined, active: false, open: false };
}

function textBehind(tags: readonly string[], start: string): string | undefined {
  return tags.find((tag) => tag.startsWith(start))?.slice(start.length);
}
