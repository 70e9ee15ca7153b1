import type { Reason } from "../host/define-reasons.ts";
import { InfraError } from "../host/infra-error.ts";
import type { ToolResult } from "../host/process/tool-result.ts";
import { hostReasons } from "../host/reasons.ts";
import type { LvmDeviceStep } from "./device-adapter.ts";
import { isMoveInactive } from "./device-commands.ts";
import { complaints, errorWithoutPattern } from "./errors.ts";
import { volumeGroupResource } from "./names.ts";
import { lvmReasons } from "./reasons.ts";

/** Patterns as in `errors.ts`: each follows a sample of the lvm2 2.03.16 output that it matches. */
const patterns: readonly (readonly [RegExp, Reason])[] = [
  // Volume group "nogroup" not found
  [/^Volume group "?\S+?"? not found/, lvmReasons.VOLUME_GROUP_GONE],
  // Volume group vgt is exported
  [/^Volume group \S+ is exported/, lvmReasons.VOLUME_GROUP_GONE],
  // Cannot change VG vgm while PVs are missing.
  [/^Cannot change VG \S+ while PVs are missing/, lvmReasons.VOLUME_GROUP_GONE],
  // Can't open /dev/loop2 exclusively.  Mounted filesystem?
  [/^Can't open \S+ exclusively/, lvmReasons.DEVICE_NOT_USABLE],
  // Cannot use /dev/loop2: device has a signature
  [/^Cannot use \S+: /, lvmReasons.DEVICE_NOT_USABLE],
  // WARNING: ext4 signature detected on /dev/loop1 at offset 1080. Wipe it? [y/n]: [n]
  // Aborted wiping of ext4.
  [/^Aborted wiping of /, lvmReasons.DEVICE_NOT_USABLE],
  // Physical volume '/dev/loop1' is already in volume group 'hv-e'
  [/^Physical volume '\S+' is already in volume group/, lvmReasons.DEVICE_NOT_USABLE],
  // No device found for /dev/nonexist.
  [/^No device found for /, lvmReasons.DEVICE_NOT_USABLE],
  // Failed to find physical volume "/dev/loop2".
  [/^Failed to find physical volume /, lvmReasons.DEVICE_NOT_USABLE],
  // Physical Volume "/dev/loop2" not found in Volume Group "hv-e".
  [/^Physical Volume "\S+" not found in Volume Group/i, lvmReasons.DEVICE_NOT_USABLE],
  // No PV found on device /dev/loop2.
  [/^No PV found on device /, lvmReasons.DEVICE_NOT_USABLE],
  // PV /dev/loop2 is used by VG hv-e so please use vgreduce first.
  [/^PV \S+ is used by VG /, lvmReasons.DEVICE_NOT_USABLE],
  // Physical volume "/dev/loop1" still in use
  [/^Physical volume "\S+" still in use/, lvmReasons.POOL_CANNOT_SHRINK],
  // Can't remove final physical volume "/dev/loop0" from volume group "hv-e"
  [/^Can't remove final physical volume/, lvmReasons.POOL_CANNOT_SHRINK],
  // No extents available for allocation
  [/^No extents available for allocation/, lvmReasons.POOL_CANNOT_SHRINK],
  // Insufficient free space: 10 extents needed, but only 5 available
  // Insufficient suitable allocatable extents for logical volume : 15 more required
  [/^Insufficient (free space|suitable)/, lvmReasons.POOL_CANNOT_SHRINK],
  // All data on source PV skipped. It contains locked, hidden or non-top level LVs only.
  [/^All data on source PV skipped/, lvmReasons.POOL_CANNOT_SHRINK],
];

/**
 * Derives the error of a failed step on devices, with LVM's own message.
 * @returns undefined on success, which includes having nothing to move and no move to abort
 */
export function errorFromDeviceStep(step: LvmDeviceStep, result: ToolResult): InfraError | undefined {
  const lines = complaints(result.stderr);
  if (result.exitCode === 0) {
    return (step.kind === "moveAway" || step.kind === "abortMove") && isMoveInactive(result)
      ? new InfraError(hostReasons.TOOL_FAILED, `pvmove: ${result.stdout.trim()}`)
      : undefined;
  }
  // No data to move for labvg.
  if (step.kind === "moveAway" && lines.some((line) => /^No data to move for /.test(line))) {
    return undefined;
  }
  const message = lines.join("; ");
  for (const [pattern, reason] of patterns) {
    if (lines.some((line) => pattern.test(line))) {
      return new InfraError(reason, message, { resource: volumeGroupResource(step.volumeGroupName) });
    }
  }
  return errorWithoutPattern(result, message);
}
