import { invalidField } from "../../../../adapters/host/infra-error.ts";
import type { FileSystemType } from "../../../../adapters/mounts/adapter.ts";
import { assertMountFlags } from "../../../../adapters/mounts/names.ts";
import {
  VolumeCapability_AccessMode_Mode as AccessMode,
  type VolumeCapability,
} from "../../../../gen/csi/v1/csi_pb.ts";

/** How a volume is accessed, as far as the driver supports it. */
export interface Capability {
  /** Undefined for a raw block device. `type` is undefined if any file system will do. */
  readonly fileSystem:
    | { readonly type: FileSystemType | undefined; readonly flags: readonly string[] }
    | undefined;
  readonly readOnly: boolean;
  /** Whether only one target path may have the volume. */
  readonly singleTarget: boolean;
}

/** XFS of less than this is refused by current versions of mkfs.xfs. */
const minXfsBytes = 300n << 20n;

const modes: ReadonlyMap<AccessMode, Pick<Capability, "readOnly" | "singleTarget">> = new Map([
  [AccessMode.SINGLE_NODE_WRITER, { readOnly: false, singleTarget: false }],
  [AccessMode.SINGLE_NODE_READER_ONLY, { readOnly: true, singleTarget: false }],
  [AccessMode.SINGLE_NODE_SINGLE_WRITER, { readOnly: false, singleTarget: true }],
  [AccessMode.SINGLE_NODE_MULTI_WRITER, { readOnly: false, singleTarget: false }],
]);

/**
 * Parses a capability.
 * @throws InfraError INVALID_FIELD for one that is incomplete, or that the driver does not support
 */
export function parseCapability(capability: VolumeCapability | undefined, field: string): Capability {
  if (capability === undefined) {
    throw invalidField(field, "must be set");
  }
  const { accessMode, accessType } = capability;
  const mode = modes.get(accessMode?.mode ?? AccessMode.UNKNOWN);
  if (mode === undefined) {
    const words = accessMode === undefined ? "must be set" : `${nameOf(accessMode.mode)} is not supported`;
    throw invalidField(
      `${field}.access_mode`,
      `${words}: a volume is accessible from one host (SINGLE_NODE_... modes)`,
    );
  }
  if (accessType.case === undefined) {
    throw invalidField(`${field}.access_type`, "must be block or mount");
  }
  if (accessType.case === "block") {
    if (mode.readOnly) {
      throw invalidField(
        `${field}.access_mode`,
        "must allow writing: a device node cannot be made read-only for a program",
      );
    }
    return { fileSystem: undefined, ...mode };
  }
  const { fsType, mountFlags, volumeMountGroup } = accessType.value;
  if (volumeMountGroup !== "") {
    throw invalidField(`${field}.mount.volume_mount_group`, "must be empty: the driver sets no group");
  }
  assertMountFlags(mountFlags, `${field}.mount.mount_flags`);
  return { fileSystem: { type: fileSystemFrom(fsType, field), flags: mountFlags }, ...mode };
}

/**
 * Parses the capabilities of a volume. At least one is required.
 * @throws InfraError INVALID_FIELD
 */
export function parseCapabilities(
  capabilities: readonly VolumeCapability[],
  field = "volume_capabilities",
): Capability[] {
  if (capabilities.length === 0) {
    throw invalidField(field, "must have at least one entry");
  }
  return capabilities.map((each, index) => parseCapability(each, `${field}[${index}]`));
}

/** Returns the size that the file systems of the capabilities need; 0 if any size will do. */
export function leastBytesOf(capabilities: readonly Pick<Capability, "fileSystem">[]): bigint {
  return capabilities.some(({ fileSystem }) => fileSystem?.type === "xfs") ? minXfsBytes : 0n;
}

function fileSystemFrom(type: string, field: string): FileSystemType | undefined {
  if (type === "ext4" || type === "xfs") {
    return type;
  }
  if (type === "") {
    return undefined;
  }
  throw invalidField(`${field}.mount.fs_type`, `must be ext4 or xfs, is ${JSON.stringify(type)}`);
}

function nameOf(mode: AccessMode): string {
  return Object.entries(AccessMode).find(([, value]) => value === mode)?.[0] ?? String(mode);
}
