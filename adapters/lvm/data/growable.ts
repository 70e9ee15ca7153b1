import { InfraError } from "../../host/infra-error.ts";
import { volumeResource } from "../names.ts";
import { lvmReasons } from "../reasons.ts";
import type { ActiveVolume, FileSystem } from "./data-adapter.ts";

/** Checks that the file system on a volume can grow. @throws InfraError FILE_SYSTEM_NOT_RESIZABLE */
export function assertGrowable(
  { volumeGroupName, name }: Pick<ActiveVolume, "volumeGroupName" | "name">,
  fileSystem: FileSystem | undefined,
): FileSystem {
  const refuse = (why: string) =>
    new InfraError(lvmReasons.FILE_SYSTEM_NOT_RESIZABLE, `${volumeGroupName}/${name} ${why}`, {
      resource: volumeResource(volumeGroupName, name),
    });
  if (fileSystem === undefined) {
    throw refuse("contains no file system");
  }
  if (!["ext2", "ext3", "ext4", "xfs"].includes(fileSystem.type)) {
    throw refuse(`contains ${fileSystem.type}; only ext2, ext3, ext4 and xfs can be grown`);
  }
  if (fileSystem.type === "xfs" && fileSystem.mountPoint === undefined) {
    throw refuse("contains xfs, which grows only while it is mounted, and is not mounted for the gateway");
  }
  return fileSystem;
}
