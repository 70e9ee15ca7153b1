import type { Reason } from "../host/define-reasons.ts";
import { InfraError, invalidField } from "../host/infra-error.ts";
import type { ToolResult } from "../host/process/tool-result.ts";
import { hostReasons } from "../host/reasons.ts";
import type { LvmStep } from "./adapter.ts";
import { volumeResource } from "./names.ts";
import { lvmReasons } from "./reasons.ts";

/**
 * LVM exits with 5 on almost every failure and with 3 on a bad argument, so errors differ in their messages only. Each
 * pattern follows a sample of the lvm2 2.03.16 output that it matches.
 */
const patterns: readonly (readonly [RegExp, Reason])[] = [
  // Logical Volume "a" already exists in volume group "vgt"
  [/^Logical Volume ".*" already exists in volume group/i, lvmReasons.VOLUME_EXISTS],
  // Volume group "nogroup" not found
  [/^Volume group "?\S+?"? not found/, lvmReasons.VOLUME_GROUP_GONE],
  // Volume group vgt is exported
  [/^Volume group \S+ is exported/, lvmReasons.VOLUME_GROUP_GONE],
  // Cannot change VG vgm while PVs are missing.
  [/^Cannot change VG \S+ while PVs are missing/, lvmReasons.VOLUME_GROUP_GONE],
  // Pool pool not found in Volume group vgt.
  [/^Pool \S+ not found in Volume group/i, lvmReasons.VOLUME_GROUP_GONE],
  // Failed to find logical volume "vgt/nope"
  [/^Failed to find logical volume /, lvmReasons.VOLUME_NOT_FOUND],
  // Logical volume nope not found in volume group vgt.
  [/^Logical volume \S+ not found in volume group/, lvmReasons.VOLUME_NOT_FOUND],
  // Existing logical volume "absent" not found in volume group "vg0"
  [/^Existing logical volume \S+ not found in volume group/, lvmReasons.VOLUME_NOT_FOUND],
  // Snapshot origin LV absent not found in Volume group vg0.
  [/^Snapshot origin LV \S+ not found in Volume group/i, lvmReasons.VOLUME_NOT_FOUND],
  // Volume group "vgt" has insufficient free space (127 extents): 2560 required.
  [/has insufficient free space/, hostReasons.NO_SPACE],
  // Insufficient free space: 2557 extents needed, but only 123 available
  [/^Insufficient free space/, hostReasons.NO_SPACE],
  // Insufficient suitable allocatable extents for logical volume striped: 2 more required
  [/^Insufficient suitable (allocatable )?(extents|space|contiguous)/i, hostReasons.NO_SPACE],
  // Number of stripes (2) must not exceed number of physical volumes (1)
  [/^Number of stripes \(\d+\) must not exceed number of physical volumes/, hostReasons.NO_SPACE],
  // Volume too large (1.00 EiB) for extent size 4.00 MiB. Upper limit is less than <16.00 PiB.
  [/^Volume too large/, hostReasons.NO_SPACE],
  // New size given (1 extents) not larger than existing size (3 extents)
  [/^New size given .* not larger than existing size/, lvmReasons.SHRINK_NOT_ALLOWED],
  // Snapshot origin volumes can be resized only while inactive: try lvchange -an.
  [/^Snapshot origin volumes can be resized only while inactive/, lvmReasons.VOLUME_PROTECTED],
  // Snapshots of snapshots are not supported.
  // Snapshots of thin pool type volumes are not supported.
  [/^Snapshots of .+ are not supported/, lvmReasons.VOLUME_PROTECTED],
  // Change of snapshot vg0/snap will also change its origin vg0/data. Proceed? [y/n]: [n]
  [/^Change of snapshot \S+ will also change its origin/, lvmReasons.VOLUME_PROTECTED],
  // Logical volume vg0/data in use.
  // Logical volume vg0/data contains a filesystem in use.
  [/^Logical volume \S+ (contains a filesystem )?in use/, hostReasons.VOLUME_IN_USE],
  // Can't remove locked logical volume vg0/data.
  // Can't resize locked logical volume vg0/data.
  [/^Can't \w+ locked logical volume/, hostReasons.VOLUME_IN_USE],
  // Cannot merge snapshot vg0/b into the origin vg0/data with merging snapshot vg0/a.
  // Snapshots of an origin that has a merging snapshot are not supported.
  [/^Cannot merge snapshot .* with merging snapshot/, lvmReasons.VOLUME_PROTECTED],
  // Command on LV vg0/snap is invalid on LV with properties: lv_is_merging_cow .
  [/^Command on LV \S+ is invalid on LV with properties/, lvmReasons.VOLUME_PROTECTED],
  // Cannot create new thin volume, free space in thin pool vg0/pool reached threshold.
  [/^Cannot create new thin volume, free space in thin pool/, hostReasons.NO_SPACE],
];

/** Messages about an argument, with the gateway's name of the field. */
const argumentPatterns: readonly (readonly [RegExp, string])[] = [
  // Logical volume name "-x" is invalid.
  // Names including "_cdata" are reserved. Please choose a different LV name.
  // Internal error: LV name "vgt/aaa" length 128 is not supported.
  // Name "vg0-a--a--a--" too long.
  [/^(Logical volume name ".*" is invalid|Names (starting|including) )/, "name"],
  [/^(Internal error: LV name ".*" length|Name ".*" too long)/, "name"],
  // Old and new logical volume names must differ
  [/^Old and new logical volume names must differ/, "name"],
  // Invalid argument for --addtag: a b
  // Invalid argument for --deltag: a@b
  [/^Invalid argument for --(addtag|deltag)/, "tags"],
  // Invalid argument for --size: 10485761b
  // --size may not be zero.
  [/^(Invalid argument for --(size|virtualsize)|--(size|virtualsize) may not be zero)/, "size_gb"],
];

/**
 * Derives the error of a failed step, with LVM's own message.
 * @returns undefined on success, which includes a resize to the size that the volume already has
 */
export function errorFromStepResult(step: LvmStep, result: ToolResult): InfraError | undefined {
  if (result.exitCode === 0) {
    // Logical volume "data" successfully removed.
    const obstacle = obstacleTo(step);
    if (obstacle === undefined || result.stdout.includes("successfully removed")) {
      return undefined;
    }
    const message = `${step.volumeGroupName}/${step.name} ${obstacle}, so LVM did not remove it`;
    return new InfraError(lvmReasons.VOLUME_PROTECTED, message, {
      resource: resourceOf(step, lvmReasons.VOLUME_PROTECTED),
    });
  }
  const lines = complaints(result.stderr);
  // New size (3 extents) matches existing size (3 extents).
  if (
    (step.kind === "resize" || step.kind === "resizeMetadata") &&
    lines.some((line) => /^New size .* matches existing size/.test(line))
  ) {
    return undefined;
  }
  for (const line of lines) {
    const field = argumentPatterns.find(([pattern]) => pattern.test(line))?.[1];
    if (field !== undefined) {
      return invalidField(field, line);
    }
  }
  const message = lines.join("; ");
  for (const [pattern, reason] of patterns) {
    if (lines.some((line) => pattern.test(line))) {
      return new InfraError(reason, message, { resource: resourceOf(step, reason), effect: "none" });
    }
  }
  return errorWithoutPattern(result, message);
}

/** Returns why LVM ends a removal without an error and without removing anything; undefined for other steps. */
export function obstacleTo({ kind }: Pick<LvmStep, "kind">): string | undefined {
  switch (kind) {
    case "remove":
      return "has snapshots or is a thin pool";
    case "removeThinPool":
      return "contains volumes or is not a thin pool";
    default:
      return undefined;
  }
}

/** Returns the resource that an error is about: the step's volume or the origin of its snapshot. */
export function resourceOf(step: LvmStep, reason: Reason): string {
  const isOriginsFault =
    step.kind === "snapshot" &&
    (reason === lvmReasons.VOLUME_NOT_FOUND || reason === lvmReasons.VOLUME_PROTECTED);
  if (isOriginsFault) {
    return volumeResource(step.volumeGroupName, step.originName);
  }
  const isTaken = step.kind === "rename" && reason === lvmReasons.VOLUME_EXISTS;
  return volumeResource(step.volumeGroupName, isTaken ? step.newName : step.name);
}

/**
 * Returns why the state could not be read; undefined if it could.
 *
 * `fullreport` exits with 5 if a group is removed while it runs. The report is then complete except for that group:
 *   Volume group "vg0" not found
 *   Cannot process volume group vg0
 * The second line is not enough: a group that cannot be locked still exists, although the report lacks it:
 *   /run/lock/lvm/V_vg0: flock failed: Resource temporarily unavailable
 *   Can't get lock for vg0.
 *   Cannot process volume group vg0
 */
export function errorFromReadResult(result: ToolResult): InfraError | undefined {
  const lacking = [...result.stderr.matchAll(/^\s*Cannot process volume group (\S+)/gm)].map(
    ([, name]) => name,
  );
  const gone = [...result.stderr.matchAll(/^\s*Volume group "(\S+)" not found/gm)].map(([, name]) => name);
  const isWhole = lacking.length > 0 && lacking.every((name) => gone.includes(name));
  if (result.exitCode === 0 || isWhole) {
    return undefined;
  }
  return errorWithoutPattern(result, complaints(result.stderr).join("; "));
}

/** Builds the error of a failure whose message matches no pattern. */
export function errorWithoutPattern({ argv, exitCode, signal }: ToolResult, message: string): InfraError {
  // env: 'lvm': No such file or directory
  // 127, or 126 if the file is not executable; comes from the program in front of lvm.
  const reason = exitCode === 126 || exitCode === 127 ? hostReasons.TOOL_MISSING : hostReasons.TOOL_FAILED;
  const end = exitCode === null ? `was ended by ${signal}` : `failed with exit code ${exitCode}`;
  return new InfraError(
    reason,
    `${argv.slice(0, 4).join(" ")} ... ${end}: ${message || "no error message"}`,
    {
      effect: reason === hostReasons.TOOL_MISSING ? "none" : undefined,
    },
  );
}

/** Returns LVM's complaints, without warnings and without lines that only repeat or explain others. */
export function complaints(stderr: string): string[] {
  return stderr
    .split("\n")
    .map((line) => line.trim())
    .filter(
      (line) =>
        line !== "" && !/^(WARNING: |File descriptor \d+ |Run `|Cannot process volume group )/.test(line),
    )
    .filter(
      (line) => !/^(Error during parsing of command line|See vgreduce |\S+lvmpolld\.socket: )/.test(line),
    );
}
