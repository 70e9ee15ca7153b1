import type { MountStep } from "./adapter.ts";

/** Programs that the adapter runs. */
export const tools = [
  "blkid",
  "mount",
  "umount",
  "mkfs.ext4",
  "e2fsck",
  "resize2fs",
  "mkfs.xfs",
  "xfs_growfs",
] as const;

/** One of these programs. */
export type Tool = (typeof tools)[number];

/** Returns the argv of the command for a step: a program and its arguments. No value in it can be parsed as an option. */
export function commandOf(step: MountStep): readonly [Tool | "mkdir" | "touch" | "rm", ...string[]] {
  switch (step.kind) {
    case "format":
      // Neither program is forced: each refuses a device in use, and mkfs.xfs also one with content.
      return step.fileSystem === "ext4"
        ? ["mkfs.ext4", "-q", "-m", "0", "--", step.device]
        : ["mkfs.xfs", "-q", "--", step.device];
    case "check":
      return ["e2fsck", "-p", "--", step.device];
    case "mount":
      return [
        "mount",
        ...["--types", step.fileSystem],
        ...["--options", mountOptions(step).join(",")],
        ...["--", step.device, step.path],
      ];
    case "bind":
      return [
        "mount",
        ...["--options", ["bind", ...(step.readOnly ? ["ro", ...step.flags] : [])].join(",")],
        ...["--", step.source, step.path],
      ];
    case "unmount":
      return ["umount", "--", step.path];
    case "grow":
      return step.fileSystem === "ext4"
        ? ["resize2fs", "--", step.device]
        : ["xfs_growfs", "-d", "--", step.path];
    case "createDirectory":
      return ["mkdir", "--mode=0750", "--", step.path];
    case "createFile":
      return ["touch", "--", step.path];
    case "removeTarget":
      return ["rm", "--dir", "--", step.path];
  }
}

/**
 * A clone has the same UUID as its source, which XFS refuses to mount beside it unless `nouuid` is given. It changes nothing for
 * other volumes.
 */
function mountOptions({ fileSystem, flags }: Extract<MountStep, { kind: "mount" }>): string[] {
  const all = fileSystem === "xfs" ? ["nouuid", ...flags] : [...flags];
  return all.length === 0 ? ["defaults"] : [...new Set(all)];
}
