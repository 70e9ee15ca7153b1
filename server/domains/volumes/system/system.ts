import type { LvmAdapter } from "../../../../adapters/lvm/adapter.ts";
import type { MountAdapter } from "../../../../adapters/mounts/adapter.ts";
import type { ResticAdapter } from "../../../../adapters/restic/adapter.ts";
import type { BackupSettings } from "../backups/backup-settings.ts";
import type { CsiSettings } from "../csi/csi-parts.ts";
import type { DeviceClass, LvcreateOptionClass } from "../device-class.ts";

/** The systems behind the volumes domain. */
export interface VolumeSystem {
  readonly lvm: LvmAdapter;
  readonly deviceClasses: readonly DeviceClass[];
  readonly lvcreateOptionClasses?: readonly LvcreateOptionClass[];
  /** Patterns of volume names that are never removed or resized. */
  readonly protect: readonly string[];
  /** A volume group or thin pool with less free space is reported as low on space. */
  readonly lowSpacePercent: number;
  /** Undefined where backups are off. */
  readonly backup?: { readonly restic: ResticAdapter; readonly settings: BackupSettings } | undefined;
  /** Undefined where the CSI driver is off. */
  readonly csi?: { readonly mounts: MountAdapter; readonly settings: CsiSettings } | undefined;
  close(): Promise<void>;
}
