import { basename } from "node:path";
import type { LvmStep } from "./adapter.ts";
import { reportFields } from "./report/report-rows.ts";

/** Options for calling LVM on this machine. */
export interface LvmCommandOptions {
  /** The lvm program with any prefix, e.g. `["sudo", "-n", "lvm"]`; `["lvm"]` by default. */
  readonly command?: readonly string[];
  /**
   * `none` works on metadata only: volumes are created and changed on disk, but get no block device. For machines
   * without device-mapper. `auto`, the default, leaves activation to LVM.
   */
  readonly activation?: "auto" | "none";
}

const sectorBytes = 512n;

/**
 * Matches volumes that are neither a snapshot origin (`o`, `O`) nor a thin pool (`t`). LVM would remove an inactive one
 * together with everything that depends on it, without asking:
 *   Logical volume "snap" successfully removed.
 *   Logical volume "data" successfully removed.
 * LVM evaluates the selection under the group's lock, so no snapshot can be created in between. If the volume is not
 * selected, lvremove does nothing, prints nothing and exits with 0 (`errors.ts`).
 */
const removable = "lv_attr!~^[oOt]";

/** Matches thin pools without volumes, for the same reason: LVM would remove the volumes of a pool with it. */
const emptyPool = "lv_attr=~^t && thin_count=0";

/** Returns the argv of an `lvm` subcommand with the options that every command on this machine needs. */
export function lvmCommand(
  options: LvmCommandOptions,
  subcommand: string,
  args: readonly string[],
): string[] {
  const { command = ["lvm"], activation = "auto" } = options;
  return [...command, subcommand, ...(activation === "none" ? ["--driverloaded", "n"] : []), ...args];
}

/**
 * Program and subcommand of an argv, as reported to observers. An argv not built by `lvmCommand` has only a program.
 */
export function toolOf(
  { command = ["lvm"] }: LvmCommandOptions,
  argv: readonly string[],
): { readonly program: string; readonly subcommand: string } {
  const isLvm = command.every((word, at) => argv[at] === word);
  return {
    program: basename((isLvm ? command.at(-1) : argv[0]) ?? ""),
    subcommand: isLvm ? (argv[command.length] ?? "") : "",
  };
}

/**
 * Returns the argv of the one command that reads the whole state, for `createReportParser`. `-o,` leaves a report empty;
 * lvm has no option that omits it.
 */
export function readStateCommand(options: LvmCommandOptions): string[] {
  const output = ["--reportformat", "json", "--units", "b", "--nosuffix"];
  const reports = [
    ...["--configreport", "vg", "-o", reportFields.vg.join(",")],
    ...["--configreport", "lv", "-o", reportFields.lv.join(",")],
    ...["--configreport", "pv", "-o", reportFields.pv.join(",")],
    ...["--configreport", "pvseg", "-o", reportFields.pvseg.join(",")],
    ...["--configreport", "seg", "-o,"],
  ];
  return lvmCommand(options, "fullreport", [...output, ...reports]);
}

/**
 * Returns the argv of the command for a step. Names come after `--`, or `names.ts` has checked that they do not
 * begin with a hyphen, so none can be parsed as an option. Nothing is forced: where `--yes` answers an LVM prompt, the
 * case names the prompt; any other prompt is answered no by an empty stdin.
 */
export function commandOf(options: LvmCommandOptions, step: LvmStep): string[] {
  const volume = `${step.volumeGroupName}/${step.name}`;
  switch (step.kind) {
    case "create":
      return lvmCommand(options, "lvcreate", [
        ...creationOptions(options, step.thinPoolName !== undefined),
        ...["--name", step.name],
        ...(step.thinPoolName === undefined
          ? ["--size", sizeOf(step.sizeBytes)]
          : ["--virtualsize", sizeOf(step.sizeBytes), "--thinpool", step.thinPoolName]),
        ...(step.options ?? []),
        ...step.tags.flatMap((tag) => ["--addtag", tag]),
        ...["--", step.volumeGroupName],
      ]);
    case "createThinPool":
      return lvmCommand(options, "lvcreate", [
        // Answers the prompt for wiping an old signature on the extents of the pool.
        "--yes",
        ...["--type", "thin-pool", "--name", step.name, "--size", sizeOf(step.sizeBytes)],
        ...(step.metadataSizeBytes === undefined
          ? []
          : ["--poolmetadatasize", sizeOf(step.metadataSizeBytes)]),
        ...step.tags.flatMap((tag) => ["--addtag", tag]),
        ...["--", step.volumeGroupName],
      ]);
    case "resizeMetadata":
      return lvmCommand(options, "lvextend", ["--poolmetadatasize", sizeOf(step.sizeBytes), "--", volume]);
    case "resize":
      // lvextend, not lvresize, since it cannot shrink.
      return lvmCommand(options, "lvextend", ["--size", sizeOf(step.sizeBytes), "--", volume]);
    case "snapshot":
      return lvmCommand(options, "lvcreate", [
        "--snapshot",
        ...roomOptions(step.roomBytes),
        ...(step.readOnly === true ? ["--permission", "r"] : []),
        ...["--name", step.name],
        ...step.tags.flatMap((tag) => ["--addtag", tag]),
        ...["--", `${step.volumeGroupName}/${step.originName}`],
      ]);
    case "rename":
      return lvmCommand(options, "lvrename", ["--", step.volumeGroupName, step.name, step.newName]);
    case "changeTags":
      return lvmCommand(options, "lvchange", [
        ...step.addTags.flatMap((tag) => ["--addtag", tag]),
        ...step.removeTags.flatMap((tag) => ["--deltag", tag]),
        ...["--", volume],
      ]);
    case "activate":
      // If a volume has the activation-skip flag, as thin snapshots made by other tools do, `lvchange -ay` without -K
      // creates no device, prints nothing and exits with 0.
      return lvmCommand(options, "lvchange", ["-ay", "-K", "--", volume]);
    case "deactivate":
      return lvmCommand(options, "lvchange", ["-an", "--", volume]);
    case "merge":
      // In the background, since a merge may take hours: a process of LVM's own watches it, and removes the snapshot.
      return lvmCommand(options, "lvconvert", [
        ...(step.isThin ? ["--mergethin"] : ["--mergesnapshot", "--background"]),
        ...["--", volume],
      ]);
    case "resumeMerge":
      return lvmCommand(options, "lvchange", ["--poll", "y", "--", volume]);
    case "remove":
      // --yes answers `Do you really want to remove active logical volume vg0/data?`; LVM still refuses to remove an
      // open one. Deactivating first does not avoid the prompt, since lvchange has one of its own for snapshots:
      // `Change of snapshot vg0/snap will also change its origin vg0/data. Proceed?`
      return lvmCommand(options, "lvremove", ["--yes", "--select", removable, "--", volume]);
    case "removeThinPool":
      // --yes answers `Do you really want to remove active logical volume vg0/pool?`
      return lvmCommand(options, "lvremove", ["--yes", "--select", emptyPool, "--", volume]);
  }
}

/**
 * Options that wipe a new volume. Its extents may have belonged to another volume, whose filesystem would show up in it
 * without wiping, and lvcreate asks before it wipes one. `--yes` answers that prompt and affects only the new volume's
 * extents. Without activation there is no device to wipe. A thin volume begins empty.
 */
function creationOptions({ activation }: LvmCommandOptions, thin: boolean): string[] {
  const wiping = activation === "none" ? ["-Zn", "-Wn"] : ["-Wy", "-Zy"];
  return [activation === "none" ? "-an" : "--yes", ...(thin ? [] : wiping)];
}

/**
 * Options for a snapshot's size. A size in percent (`--extents 10%ORIGIN`) is only an upper limit: if 16 extents are
 * requested and 5 are free, lvcreate creates a snapshot of 5 and exits with 0. A size in bytes is allocated in full or
 * refused. With a size, the snapshot of a thin volume is copy-on-write too. `-kn` creates a thin snapshot without the
 * activation-skip flag, so that it gets its device at once and at every later activation. lvcreate prompts for neither,
 * not even over an old file system.
 */
function roomOptions(roomBytes: bigint | undefined): string[] {
  return roomBytes === undefined ? ["-kn"] : ["--size", sizeOf(roomBytes)];
}

/**
 * Rounds up to whole sectors: LVM rounds up to whole extents, but rejects sizes that are not a multiple of a sector.
 */
function sizeOf(sizeBytes: bigint): string {
  return `${((sizeBytes + sectorBytes - 1n) / sectorBytes) * sectorBytes}b`;
}
