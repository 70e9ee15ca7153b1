import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../../../adapters/host/reasons.ts";
import type { Mount, MountAdapter, MountStep } from "../../../../../adapters/mounts/adapter.ts";
import { comparedFlags } from "../../../../../adapters/mounts/names.ts";
import type { MutationStep } from "../../../../operations/mutation.ts";
import { isMountOf } from "../../changes/assert-unmounted.ts";
import type { Capability } from "../capability.ts";
import { type CsiVolume, resourceOfId } from "../csi-volume.ts";
import { csiReasons } from "../reasons.ts";

/** Returns the mount that is visible at a path; undefined if nothing is mounted there. */
export function visibleAt(mounts: readonly Mount[], path: string): Mount | undefined {
  return mounts.findLast((mount) => mount.path === path);
}

/** Reports whether a mount cannot be written through. */
export function isReadOnly({ flags }: Mount): boolean {
  return flags.includes("ro");
}

/**
 * Returns the mounts at a path, which must all be of the volume.
 * @throws InfraError MOUNT_FOREIGN
 */
export function ownMountsAt(
  mounts: readonly Mount[],
  path: string,
  found: Pick<CsiVolume, "volume"> | undefined,
  resource: string,
): readonly Mount[] {
  const all = mounts.filter((mount) => mount.path === path);
  const foreign = all.find((mount) => found === undefined || !isMountOf(mount, found.volume));
  if (foreign !== undefined) {
    throw new InfraError(
      csiReasons.MOUNT_FOREIGN,
      `${path} is a mount of ${foreign.source} (${foreign.fileSystem}), not of this volume`,
      { resource },
    );
  }
  return all;
}

/**
 * Refuses to use a volume as a file system and as a raw block device at the same time, by which its content would be damaged. The
 * kernel allows it: the mount of a device node does not open the device.
 * @throws InfraError VOLUME_IN_USE
 */
export function assertOneUse(
  mounts: readonly Mount[],
  { id, volume }: Pick<CsiVolume, "id" | "volume">,
  { fileSystem }: Pick<Capability, "fileSystem">,
): void {
  const isBlock = fileSystem === undefined;
  const other = mounts.find((mount) => isMountOf(mount, volume) && (mount.node !== undefined) !== isBlock);
  if (other !== undefined) {
    const what = isBlock ? "a file system" : "a raw block device";
    throw new InfraError(hostReasons.VOLUME_IN_USE, `volume ${id} is mounted at ${other.path} as ${what}`, {
      resource: resourceOfId(id),
    });
  }
}

/**
 * Checks that a mount has what a request asks for. Flags that the kernel does not show as they were given are not compared.
 * @throws InfraError MOUNT_DIFFERS
 */
export function assertAsRequested(
  mount: Mount,
  { fileSystem, readOnly }: Pick<Capability, "fileSystem" | "readOnly">,
  resource: string,
): void {
  const type = fileSystem?.type ?? mount.fileSystem;
  const requested = comparedFlags.filter((flag) => fileSystem?.flags.includes(flag));
  const actual = comparedFlags.filter((flag) => [...mount.flags, ...mount.fileSystemOptions].includes(flag));
  const difference =
    mount.fileSystem !== type
      ? `its file system is ${mount.fileSystem}, requested is ${type}`
      : isReadOnly(mount) !== readOnly
        ? `it is ${isReadOnly(mount) ? "read-only" : "writable"}`
        : requested.join() === actual.join()
          ? undefined
          : `its flags are ${actual.join(", ") || "none"}, requested are ${requested.join(", ") || "none"}`;
  if (difference !== undefined) {
    throw new InfraError(
      csiReasons.MOUNT_DIFFERS,
      `the volume is mounted at ${mount.path}, but ${difference}`,
      { resource },
    );
  }
}

/** Returns the step of a mutation for a change of mounts. */
export function mountStepOf(mounts: MountAdapter, step: MountStep, undo?: MountStep): MutationStep {
  return {
    name: step.kind,
    command: mounts.commandOf(step),
    forward: () => mounts.run(step),
    ...(undo === undefined ? {} : { undo: () => mounts.run(undo) }),
  };
}
