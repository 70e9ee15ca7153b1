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
  type segmentRow,
  type volumeGroupRow,
} from "./report-rows.ts";

/**
 * Creates a parser for the JSON of `lvm fullreport` (`commands.ts`, `readStateCommand`). It keeps the volumes of the last
 * report: a volume whose row has not changed is the same object again, because reading a row costs much more than comparing it,
 * and the garbage of some hundred rows delays other work. Unknown columns are ignored. LVM's internal volumes are left out, and
 * so are exported groups with everything in them, since LVM refuses to use them until `vgimport`.
 * @throws InfraError TOOL_OUTPUT that names the invalid element; from the parser
 */
export function createReportParser(): (text: string) => LvmState {
  let known: ReadonlyMap<string, LogicalVolume> = new Map();
  return (text) => {
    const rows = new Map<string, LogicalVolume>();
    const state = parseFullReport(text, (row, { groupName, devicesOf, place }) => {
      const devices = devicesOf(row);
      const key = JSON.stringify([groupName, row, devices]);
      const volume =
        known.get(key) ?? logicalVolumeFromRow(parsePart(logicalVolumeRow, row, place), groupName, devices);
      rows.set(key, volume);
      return volume;
    });
    known = rows;
    return state;
  };
}

/** Where a row of a volume is. */
interface RowPlace {
  readonly groupName: string;
  /** Returns the devices of the volume in a row, sorted. */
  readonly devicesOf: (row: unknown) => readonly string[];
  /** Place in the report, followed by a dot. */
  readonly place: string;
}

function parseFullReport(
  text: string,
  volumeOf: (row: unknown, rowPlace: RowPlace) => LogicalVolume,
): LvmState {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new InfraError(hostReasons.TOOL_OUTPUT, "lvm fullreport: the output is not JSON", { cause });
  }
  const volumeGroups: VolumeGroup[] = [];
  const volumes = new Map<string, LogicalVolume>();
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
    const devicesOf = devicesByRow(pvseg);
    for (const [at, row] of lv.entries()) {
      const volume = volumeOf(row, {
        groupName: group.vg_name,
        devicesOf,
        place: `report.${index}.lv.${at}.`,
      });
      if (!isInternal(volume)) {
        // vgimportclone gives groups and disks new UUIDs, but volumes keep theirs.
        volumes.set(`${group.vg_uuid} ${volume.uuid}`, volume);
      }
    }
  }
  return { volumeGroups, volumes: [...volumes.values()], physicalVolumes };
}

/**
 * Returns the devices of a group's volumes from its segments. Those of an internal volume count for the volume that it
 * belongs to; LVM writes its name as `[pool_tdata]`.
 */
function devicesByRow(segments: readonly z.output<typeof segmentRow>[]): RowPlace["devicesOf"] {
  const devices = new Map<string, Set<string>>();
  for (const { pv_name, lv_name, lv_parent } of segments) {
    const holder = holderOfInternalName(withoutBrackets(lv_parent || lv_name));
    devices.set(holder, (devices.get(holder) ?? new Set()).add(pv_name));
  }
  const paths = new Map([...devices].map(([holder, names]) => [holder, [...names].sort()]));
  return (row) => {
    const isNamed = typeof row === "object" && row !== null && "lv_name" in row;
    return (isNamed ? paths.get(String(row.lv_name)) : undefined) ?? [];
  };
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
