import { InfraError } from "../host/infra-error.ts";
import type { ToolResult } from "../host/process/tool-result.ts";
import { hostReasons } from "../host/reasons.ts";
import type { MountStep } from "./adapter.ts";

// mkfs.ext4: /dev/vg0/a is apparently in use by the system; will not make a filesystem here!
// mkfs.xfs: cannot open /dev/vg0/a: Device or resource busy
// mount: /mnt: /dev/mapper/vg0-a already mounted or mount point busy.
// umount: /mnt: target is busy.
const busy = /\bbusy\b|in use by the system|is mounted; will not|contains a mounted filesystem/i;

/** Interprets the result of a step's command; undefined if it succeeded. */
export function errorFromMountStep(step: MountStep, result: ToolResult): InfraError | undefined {
  const { exitCode, signal } = result;
  // 1 and 2 of e2fsck: errors were corrected.
  if (exitCode === 0 || (step.kind === "check" && (exitCode === 1 || exitCode === 2))) {
    return undefined;
  }
  // e2fsck writes what it finds to stdout.
  const stderr = step.kind === "check" ? `${result.stdout}\n${result.stderr}` : result.stderr;
  const lines = stderr.split("\n").filter((line) => line.trim() !== "");
  const words = lines.slice(-3).join(" ") || `it ended with ${signal ?? exitCode}`;
  return new InfraError(
    busy.test(stderr) ? hostReasons.VOLUME_IN_USE : hostReasons.TOOL_FAILED,
    `${describeStep(step)}: ${words}`,
  );
}

function describeStep(step: MountStep): string {
  switch (step.kind) {
    case "format":
      return `${step.device} cannot be formatted with ${step.fileSystem}`;
    case "check":
      return `${step.device} has errors that are not corrected automatically; run e2fsck without -p`;
    case "mount":
    case "bind":
      return `${step.path} cannot be mounted`;
    case "unmount":
      return `${step.path} cannot be unmounted`;
    case "grow":
      return `the file system at ${step.path} cannot be grown`;
    default:
      return step.path;
  }
}
