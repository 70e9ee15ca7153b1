import type { LibvirtDomain, StorageSource } from "../../../adapters/libvirt/adapter.ts";
import type { SharedStorage } from "./hypervisor-settings.ts";

/** Creates a predicate that reports whether a disk or filesystem is on the storage that hypervisors share. */
export function createSharedStorageTest(
  shared: SharedStorage | undefined,
): (source: StorageSource) => boolean {
  const { volumeGroup, directory, libvirtPool } = shared ?? {};
  const root = directory?.replace(/\/+$/, "");
  const prefixes = [
    ...(volumeGroup === undefined
      ? []
      : // device-mapper joins the names of group and volume with a hyphen, and doubles hyphens within them.
        [`/dev/${volumeGroup}/`, `/dev/mapper/${volumeGroup.replaceAll("-", "--")}-`]),
    ...(root === undefined ? [] : [`${root}/`]),
  ];
  return (source) => {
    switch (source.kind) {
      case "path":
        return source.path === root || prefixes.some((prefix) => isBelow(source.path, prefix));
      case "volume":
        return source.pool === libvirtPool;
      case "other":
        return false;
    }
  };
}

/** Reports whether a VM uses the shared storage. */
export function usesShared(
  { disks, filesystems }: Pick<LibvirtDomain, "disks" | "filesystems">,
  isShared: (source: StorageSource) => boolean,
): boolean {
  return [...disks, ...filesystems].some(({ source }) => isShared(source));
}

/** Distinguishes `/dev/mapper/vg-lv`, a volume of `vg`, from `/dev/mapper/vg--lv-x`, a volume of `vg-lv`. */
function isBelow(path: string, prefix: string): boolean {
  const isMapper = prefix.startsWith("/dev/mapper/");
  return path.startsWith(prefix) && path.length > prefix.length && !(isMapper && path[prefix.length] === "-");
}
