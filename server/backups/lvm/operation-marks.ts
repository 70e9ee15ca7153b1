import type { LogicalVolume } from "../../../adapters/lvm/adapter.ts";

/** Tags that begin so are the gateway's own: nobody can give them to a volume by it, and it tells nobody of them. */
export const reservedTagStart = "hostplane-";

const operationTagStart = `${reservedTagStart}operation-`;
const wantedNameTagStart = `${reservedTagStart}volume=`;

/** The LVM tag of what an operation has made, until it has ended. */
export function operationTag(operationId: string): string {
  return operationTagStart + operationId;
}

/** The LVM tag that says what a volume will be called once it is whole. */
export function wantedNameTag(name: string): string {
  return wantedNameTagStart + name;
}

/** Name of what an operation makes for as long as it lasts; LVM limits the length of names, so it holds a part of the id. */
export function temporaryName(what: "backup" | "restore", operationId: string): string {
  return `hostplane-${what}-${operationId.replaceAll("-", "").slice(-12)}`;
}

/** The operation that has made a volume and will remove or release it; undefined for a volume like any other. */
export function operationOf({ tags }: Pick<LogicalVolume, "tags">): string | undefined {
  return textBehind(tags, operationTagStart);
}

/** Whether a volume is the snapshot that a backup reads, which is gone with the end of that. */
export function isBackupSnapshot({ name, tags }: Pick<LogicalVolume, "name" | "tags">): boolean {
  return name.startsWith("hostplane-backup-") && operationOf({ tags }) !== undefined;
}

/**
 * Whether a volume is one that an operation has made for itself. What it has given its own name is whole, although a mark
 * may still be there.
 */
export function isTemporary({ name, tags }: Pick<LogicalVolume, "name" | "tags">): boolean {
  return /^hostplane-(backup|restore)-/.test(name) && operationOf({ tags }) !== undefined;
}

/** What people call a volume: one that is being restored has the name that it will have. */
export function shownName({ name, tags }: Pick<LogicalVolume, "name" | "tags">): string {
  return name.startsWith("hostplane-restore-") ? (textBehind(tags, wantedNameTagStart) ?? name) : name;
}

/** A volume as it is shown: one that is being restored cannot be opened, so that it has no device. */
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
