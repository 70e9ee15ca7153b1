import { basename } from "node:path";
import type { LvmStep } from "./adapter.ts";
import { reportFields } from "./parse.ts";

/** How LVM is called on this machine. */
export interface LvmCommandOptions {
  /** The lvm program, with whatever goes in front of it: `["sudo", "-n", "lvm"]`. `["lvm"]` unless told. */
  readonly command?: readonly string[];
  /**
   * `none` works on metadata only: volumes are made and changed on disk, but get no block device. For
   * machines without device-mapper. `auto`, the default, leaves it to LVM.
   */
  readonly activation?: "auto" | "none";
}

const sectorBytes = 512n;

/**
 * Neither an origin of snapshots (`o`, `O`) nor a thin pool (`t`): LVM would remove an inactive one with all that
 * depends on it, and does not even ask:
 *   Logical volume "snap" successfully removed.
 *   Logical volume "data" successfully removed.
 * It judges the selection under the group's lock, so no snapshot can come in between. A volume that is not
 * selected is left alone with exit code 0 and no word (`errors.ts`).
 */
const removable = "lv_attr!~^[oOt]";

/** argv of `lvm` with the words that every command of this machine needs. */
export function lvmCommand(
  options: LvmCommandOptions,
  subcommand: string,
  args: readonly string[],
): string[] {
  const { command = ["lvm"], activation = "auto" } = options;
  return [...command, subcommand, ...(activation === "none" ? ["--driverloaded", "n"] : []), ...args];
}

/** What observers are told of an argv that begins as `lvmCommand` makes it; another is the program's alone. */
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
 * argv of the one command that reads the whole state, for `parseFullReport`. `-o,` leaves a report empty;
 * lvm has no way to leave it out.
 */
export function readStateCommand(options: LvmCommandOptions): string[] {
  const output = ["--reportformat", "json", "--units", "b", "--nosuffix"];
  const reports = [
    ...["--configreport", "vg", "-o", reportFields.vg.join(",")],
    ...["--configreport", "lv", "-o", reportFields.lv.join(",")],
    ...["--configreport", "pv", "-o", reportFields.pv.join(",")],
    ...["pvseg", "seg"].flatMap((report) => ["--configreport", report, "-o,"]),
  ];
  return lvmCommand(options, "fullreport", [...output, ...reports]);
}

/**
 * argv of the command that makes a step. Names stand behind `--` or are checked by `names.ts` not to begin
 * with a hyphen, so none can be taken for an option. Nothing is forced: where `--yes` answers a question of
 * LVM's, the case says which; any other is answered no by an empty stdin.
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
    case "resize":
      // lvextend, not lvresize: it cannot shrink.
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
      // Of a volume that carries the activation-skip flag, as thin snapshots made by others do, lvchange -ay without -K
      // leaves the device away, with exit code 0 and no word.
      return lvmCommand(options, "lvchange", ["-ay", "-K", "--", volume]);
    case "deactivate":
      return lvmCommand(options, "lvchange", ["-an", "--", volume]);
    case "remove":
      // --yes answers `Do you really want to remove active logical volume vg0/data?`; an open one is refused all
      // the same. Deactivating it first is no way round the question: for a snapshot lvchange asks another,
      // `Change of snapshot vg0/snap will also change its origin vg0/data. Proceed?`
      return lvmCommand(options, "lvremove", ["--yes", "--select", removable, "--", volume]);
  }
}

/**
 * A new volume lies on extents that may have belonged to another: without wiping, a former owner's filesystem
 * would show up in it, and lvcreate asks before it wipes one. `--yes` answers that question and concerns the
 * new volume's own extents only. Without activation there is no device to write to. A thin volume begins empty.
 */
function creationOptions({ activation }: LvmCommandOptions, thin: boolean): string[] {
  const wiping = activation === "none" ? ["-Zn", "-Wn"] : ["-Wy", "-Zy"];
  return [activation === "none" ? "-an" : "--yes", ...(thin ? [] : wiping)];
}

/**
 * A size in percent (`--extents 10%ORIGIN`) is only an upper limit: with 5 extents free where 16 were meant, lvcreate
 * makes a snapshot of 5 and ends with 0. One in bytes is had or refused. With a size the snapshot of a thin volume is
 * copy-on-write too. `-kn` spares a thin snapshot the activation-skip flag, so that it gets its device at once and
 * whenever it is activated later. lvcreate asks no question for either, not even where an old file system lies.
 */
function roomOptions(roomBytes: bigint | undefined): string[] {
  return roomBytes === undefined ? ["-kn"] : ["--size", sizeOf(roomBytes)];
}

/** LVM rounds up to whole extents, but refuses what is no multiple of a sector. */
function sizeOf(sizeBytes: bigint): string {
  return `${((sizeBytes + sectorBytes - 1n) / sectorBytes) * sectorBytes}b`;
}
