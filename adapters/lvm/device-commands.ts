import type { ToolResult } from "../host/process/tool-result.ts";
import type { LvmStep } from "./adapter.ts";
import { commandOf, type LvmCommandOptions, lvmCommand } from "./commands.ts";
import type { LvmDeviceStep } from "./device-adapter.ts";

const deviceKinds: ReadonlySet<string> = new Set<LvmDeviceStep["kind"]>([
  "addDevices",
  "setAllocatable",
  "moveAway",
  "abortMove",
  "takeDevice",
  "freeDevice",
]);

/** Returns the argv for a step on volumes or devices. */
export function anyCommandOf(options: LvmCommandOptions, step: LvmStep | LvmDeviceStep): string[] {
  return isDeviceStep(step) ? deviceCommandOf(options, step) : commandOf(options, step);
}

function isDeviceStep(step: LvmStep | LvmDeviceStep): step is LvmDeviceStep {
  return deviceKinds.has(step.kind);
}

/**
 * Returns the argv of the command for a step on devices. No LVM prompt is ever answered with yes: an empty stdin
 * means no:
 *   WARNING: ext4 signature detected on /dev/loop1 at offset 1080. Wipe it? [y/n]: [n]
 *   Aborted wiping of ext4.
 */
export function deviceCommandOf(options: LvmCommandOptions, step: LvmDeviceStep): string[] {
  const { volumeGroupName: group } = step;
  switch (step.kind) {
    case "addDevices":
      // Creates the physical volumes itself and adds all of them in one commit of the group's metadata.
      return lvmCommand(options, "vgextend", ["--", group, ...step.paths]);
    case "setAllocatable":
      return lvmCommand(options, "pvchange", [
        "--allocatable",
        step.allocatable ? "y" : "n",
        "--",
        step.path,
      ]);
    case "moveAway":
      // Prints its progress every second. Resumes an interrupted move:
      //   Detected pvmove in progress for /dev/vdc.
      return lvmCommand(options, "pvmove", ["--interval", "1", "--", step.path]);
    case "abortMove":
      return lvmCommand(options, "pvmove", ["--abort", "--", step.path]);
    case "takeDevice":
      return lvmCommand(options, "vgreduce", ["--", group, step.path]);
    case "freeDevice":
      return lvmCommand(options, "pvremove", ["--", step.path]);
  }
}

/**
 * Returns the argv that activates an interrupted move and returns. The copy, which the kernel makes, is watched by a process
 * in the background; it ends within a second of the move's end.
 */
export function resumeMoveCommand(options: LvmCommandOptions, path: string): string[] {
  return lvmCommand(options, "pvmove", ["--background", "--interval", "1", "--", path]);
}

/** Reports whether pvmove found the move inactive, in which case it has changed nothing: `  /dev/vdb: Interrupted: No longer active.` */
export function isMoveInactive({ stdout }: Pick<ToolResult, "stdout">): boolean {
  return /: Interrupted: /.test(stdout);
}

/** Parses the percentage moved from pvmove's output: `  /dev/vdc: Moved: 12.50%`. Undefined for other output. */
export function parseMovedPercent(text: string): number | undefined {
  const percents = [...text.matchAll(/: Moved: (\d+(?:\.\d+)?)%/g)];
  const percent = percents.at(-1)?.[1];
  return percent === undefined ? undefined : Math.min(100, Number(percent));
}
