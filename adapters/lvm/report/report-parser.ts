import type { z } from "zod";
import { InfraError } from "../../host/infra-error.ts";
import { hostReasons } from "../../host/reasons.ts";
import type { LogicalVolume, LvmState, VolumeGroup } from "../adapter.ts";
import type { PhysicalVolume } from "../device-adapter.ts";
import { holderOfInternalName } from "../names.ts";
import {
  fullReport,
  logicalVolumeRow,
  type physicalVolumeRow,
  reportFields,
  type segmentRow,
  type volumeGroupRow,
} from "./report-rows.ts";

/**
 * Creates a parser for the JSON of `lvm fullreport` (`commands.ts`, `readStateCommand`). It keeps the rows of the last report: a
 * volume whose row has not changed is the same object again, because reading a row costs much more than comparing it, and
 * readers can skip what they have seen. Unknown columns are ignored. LVM's internal volumes are left out, and so are exported
 * groups with everything in them, since LVM refuses to use them until `vgimport`.
 * @throws InfraError TOOL_OUTPUT that names the invalid element; from the parser
 */
export function createReportParser(): (text: string) => LvmState {
  let known: ReadonlyMap<string, GroupRows> = new Map();
  return (text) => {
    const groups = new Map<string, GroupRows>();
    const state = parseFullReport(text, known, groups);
    known = groups;
    return state;
  };
}

/** The rows of a group's volumes in a report. */
interface GroupRows {
  /** By UUID. */
  readonly volumes: ReadonlyMap<string, VolumeRow>;
  readonly segments: readonly Segment[];
  /** The devices of each volume, sorted; by name. */
  readonly devices: ReadonlyMap<string, readonly string[]>;
}

type Segment = z.output<typeof segmentRow>;

type UncheckedRow = Readonly<Record<string, unknown>>;

interface VolumeRow {
  readonly row: UncheckedRow;
  readonly volume: LogicalVolume;
}

const noRows: GroupRows = { volumes: new Map(), segments: [], devices: new Map() };
const noDevices: readonly string[] = [];

/**
 * @param known the rows of the last report, by the UUIDs of the groups
 * @param groups receives those of this one
 */
function parseFullReport(
  text: string,
  known: ReadonlyMap<string, GroupRows>,
  groups: Map<string, GroupRows>,
): LvmState {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new InfraError(hostReasons.TOOL_OUTPUT, "lvm fullreport: the output is not JSON", { cause });
  }
  const volumeGroups: VolumeGroup[] = [];
  const volumes: LogicalVolume[] = [];
  const physicalVolumes: PhysicalVolume[] = [];
  for (const [index, { vg, lv, pv, pvseg }] of parsePart(fullReport, json, "").report.entries()) {
    const [group] = vg;
    // If a device is visible under several paths, LVM uses one and reports the others as duplicates.
    const used = pv.filter(({ pv_duplicate }) => pv_duplicate === "");
    physicalVolumes.push(...used.map((row) => physicalVolumeFromRow(row, group?.vg_name)));
    if (group === undefined) {
      if (lv.length === 0) {
        continue;
      }
      throw new InfraError(
        hostReasons.TOOL_OUTPUT,
        `lvm fullreport: report.${index}: volumes without a volume group`,
      );
    }
    if (group.vg_exported !== "") {
      continue;
    }
    volumeGroups.push(volumeGroupFromRow(group));
    const before = known.get(group.vg_uuid) ?? noRows;
    const devices = devicesByVolume(pvseg, before);
    const rows = volumeRows(lv, {
      groupName: group.vg_name,
      before,
      devices,
      place: `report.${index}.lv.`,
    });
    // By group, since vgimportclone gives groups and disks new UUIDs, but volumes keep theirs.
    groups.set(group.vg_uuid, { volumes: rows, segments: pvseg, devices });
    for (const { volume } of rows.values()) {
      if (!isInternal(volume)) {
        volumes.push(volume);
      }
    }
  }
  return { volumeGroups, volumes, physicalVolumes };
}

function volumeRows(
  rows: readonly unknown[],
  parts: {
    readonly groupName: string;
    readonly before: GroupRows;
    readonly devices: GroupRows["devices"];
    /** Place of the rows in the report, followed by a dot. */
    readonly place: string;
  },
): Map<string, VolumeRow> {
  const { groupName, before, devices, place } = parts;
  const isKept = (kept: VolumeRow | undefined, row: UncheckedRow): kept is VolumeRow =>
    kept !== undefined &&
    isSameRow(kept.row, row, reportFields.lv) &&
    kept.volume.volumeGroupName === groupName &&
    kept.volume.devicePaths === (devices.get(kept.volume.name) ?? noDevices);
  const keptOf = (row: UncheckedRow) => {
    const kept = before.volumes.get(String(row.lv_uuid));
    return isKept(kept, row) ? kept : undefined;
  };
  const inOrder = [...before.volumes.values()];
  const volumes = new Map<string, VolumeRow>();
  for (const [at, value] of rows.entries()) {
    const row = (value ?? {}) as UncheckedRow;
    // Most rows are where they were, and comparing one costs less than finding it by its UUID.
    const sameAt = inOrder[at];
    const kept = isKept(sameAt, row) ? sameAt : keptOf(row);
    if (kept !== undefined) {
      volumes.set(kept.volume.uuid, kept);
    } else {
      const volume = logicalVolumeFromRow(
        parsePart(logicalVolumeRow, value, `${place}${at}.`),
        groupName,
        devices.get(String(row.lv_name)) ?? noDevices,
      );
      volumes.set(volume.uuid, { row, volume });
    }
  }
  return volumes;
}

/** Compares the columns that the parser needs, which are texts. */
function isSameRow(one: UncheckedRow, other: UncheckedRow, columns: readonly string[]): boolean {
  for (const column of columns) {
    if (one[column] !== other[column]) {
      return false;
    }
  }
  return true;
}

/**
 * Returns the devices of a group's volumes from its segments. Those of an internal volume count for the volume that it
 * belongs to; LVM writes its name as `[pool_tdata]`.
 * @param last the rows of the last report; their lists are used again where they have not changed
 */
function devicesByVolume(segments: readonly Segment[], last: GroupRows): GroupRows["devices"] {
  const { devices: before } = last;
  const isSameAt = (segment: Segment, at: number) => {
    const other = last.segments[at];
    return other !== undefined && isSameRow(segment, other, reportFields.pvseg);
  };
  if (segments.length === last.segments.length && segments.every(isSameAt)) {
    return before;
  }
  const devices = new Map<string, string[]>();
  for (const { pv_name, lv_name, lv_parent } of segments) {
    const name = lv_parent || lv_name;
    // A known name is that of a holder. Looking it up costs less than searching it for the parts of internal names.
    const holder = before.has(name) ? name : holderOfInternalName(withoutBrackets(name));
    const paths = devices.get(holder);
    if (paths === undefined) {
      devices.set(holder, [pv_name]);
    } else if (!paths.includes(pv_name)) {
      paths.push(pv_name);
    }
  }
  const result: Map<string, readonly string[]> = devices;
  for (const [holder, paths] of devices) {
    paths.sort();
    const kept = before.get(holder);
    if (kept?.length === paths.length && paths.every((path, at) => path === kept[at])) {
      result.set(holder, kept);
    }
  }
  return result;
}

/** @param place of the value in the report, followed by a dot; empty for the report */
function parsePart<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  place: string,
): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) {
    return parsed.data;
  }
  const [issue] = parsed.error.issues;
  throw new InfraError(
    hostReasons.TOOL_OUTPUT,
    `lvm fullreport: ${place}${issue?.path.join(".") ?? ""}: ${issue?.message ?? "is invalid"}`,
  );
}

function physicalVolumeFromRow(
  row: z.output<typeof physicalVolumeRow>,
  volumeGroupName: string | undefined,
): PhysicalVolume {
  const { pv_major: major, pv_minor: minor } = row;
  const isMissing = row.pv_missing !== "";
  return {
    path: row.pv_name,
    uuid: row.pv_uuid,
    volumeGroupName,
    sizeBytes: row.pv_size,
    usedBytes: row.pv_used,
    allocatable: row.pv_allocatable !== "",
    missing: isMissing,
    // lvm reports 0:0 for a missing one.
    device: isMissing || major === undefined || minor === undefined ? undefined : { major, minor },
  };
}

function volumeGroupFromRow(row: z.output<typeof volumeGroupRow>): VolumeGroup {
  return {
    name: row.vg_name,
    uuid: row.vg_uuid,
    sizeBytes: row.vg_size,
    freeBytes: row.vg_free,
    extentSizeBytes: row.vg_extent_size,
    missingPvCount: row.vg_missing_pv_count,
  };
}

/**
 * Reports whether a volume is internal: LVM then writes `[pool_tdata]`. The role does not show it, since a thin pool is
 * `private` too.
 */
function isInternal({ name }: LogicalVolume): boolean {
  return name.startsWith("[");
}

function logicalVolumeFromRow(
  row: z.output<typeof logicalVolumeRow>,
  volumeGroupName: string,
  devicePaths: readonly string[],
): LogicalVolume {
  const { lv_kernel_major: major, lv_kernel_minor: minor, lv_attr: attributes } = row;
  const isSnapshot = attributes.kind === "snapshot";
  return {
    name: row.lv_name,
    uuid: row.lv_uuid,
    volumeGroupName,
    kind: attributes.kind,
    health: attributes.health,
    // The lv_size of a copy-on-write snapshot is the space for its differences.
    sizeBytes: isSnapshot ? (row.origin_size ?? row.lv_size) : row.lv_size,
    tags: row.lv_tags === "" ? [] : row.lv_tags.split(","),
    device: major === undefined || minor === undefined ? undefined : { major, minor },
    active: attributes.active,
    readOnly: attributes.readOnly,
    attributes: attributes.text,
    open: attributes.open,
    thinPoolName: row.pool_lv === "" ? undefined : withoutBrackets(row.pool_lv),
    originName: row.origin === "" ? undefined : withoutBrackets(row.origin),
    dataPercent: row.data_percent,
    metadataPercent: row.metadata_percent,
    metadataSizeBytes: row.lv_metadata_size,
    roomBytes: isSnapshot ? row.lv_size : undefined,
    merging: attributes.merging,
    devicePaths,
  };
}

function withoutBrackets(text: string): string {
  return text.replace(/^\[(.*)\]$/, "$1");
}
