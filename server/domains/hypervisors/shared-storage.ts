import type { LibvirtDomain, StorageSource } from "../../../adapters/libvirt/adapter.ts";
import type { SharedStorage } from "./hypervisor-settings.ts";

/** Says whether a disk or filesystem is on the storage that hypervisors share. */
export function createSharedStorageTest(
  shared: SharedStorage | undefined,
): (source: StorageSource) => boolean {
  const { volumeGroup, directory, libvirtPool } = shared ?? {};
  const root = directory?.replace(/\/+$/, "");
  const prefixes = [
    ...(volumeGroup === undefined
      ? []
      : // The device of a group's volume is called after both, each hyphen inside a name doubled.
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

/** Whether a domain has anything of it. */
export function usesShared(
  { disks, filesystems }: Pick<LibvirtDomain, "disks" | "filesystems">,
  isShared: (source: StorageSource) => boolean,
): boolean {
  return [...disks, ...filesystems].some(({ source }) => isShared(source));
}

/** `/dev/mapper/vg-lv` is a volume of vg, `/dev/mapper/vg--lv-x` one of `vg-lv`. */
function isBelow(path: string, prefix: string): boolean {
  const isMapper = prefix.startsWith("/dev/mapper/");
  return path.startsWith(prefix) && path.length > prefix.length && !(isMapper && path[prefix.length] === "-");
}
