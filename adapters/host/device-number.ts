import { stat } from "node:fs/promises";

/** Number of a device in the kernel. */
export interface DeviceNumber {
  readonly major: number;
  readonly minor: number;
}

/** Returns the number of the block device whose node a path leads to; undefined if it leads to none. */
export async function blockDeviceNumber(path: string): Promise<DeviceNumber | undefined> {
  const facts = await stat(path, { bigint: true }).catch(() => undefined);
  return facts?.isBlockDevice() === true ? deviceNumberFrom(facts.rdev) : undefined;
}

/** Unpacks major and minor from 64 bits, as makedev(3) packs them. */
export function deviceNumberFrom(rdev: bigint): DeviceNumber {
  const major = ((rdev >> 8n) & 0xfffn) | ((rdev >> 32n) & 0xfffff000n);
  const minor = (rdev & 0xffn) | ((rdev >> 12n) & 0xffffff00n);
  return { major: Number(major), minor: Number(minor) };
}

/** Parses the kernel's own spelling, e.g. `253:4`; undefined if it is another text. */
export function parseDeviceNumber(text: string): DeviceNumber | undefined {
  const [, major, minor] = /^(\d+):(\d+)$/.exec(text) ?? [];
  return major === undefined ? undefined : { major: Number(major), minor: Number(minor) };
}

/** Reports whether both numbers are known and the same. */
export function isSameDevice(one: DeviceNumber | undefined, other: DeviceNumber | undefined): boolean {
  return one !== undefined && one.major === other?.major && one.minor === other.minor;
}
