import { z } from "zod";
import { parseAttributes } from "./attributes.ts";

const bytes = z
  .string()
  .regex(/^\d{1,20}$/, "is not a number of bytes")
  .transform(BigInt);
const optionalBytes = z.union([z.literal("").transform(() => undefined), bytes]);
const percent = z
  .string()
  .regex(/^(\d+(\.\d+)?)?$/, "is not a percentage")
  .transform((text) => (text === "" ? undefined : Number(text)));
// -1 stands for a volume without a device. With old metadata and for values that LVM guesses, it may also be empty.
const deviceNumber = z
  .string()
  .regex(/^(-1|\d+)?$/, "is not a device number")
  .transform((text) => (text === "" || text === "-1" ? undefined : Number(text)));
const name = z.string().min(1);

/** A row of `vgs`. */
export const volumeGroupRow = z.object({
  vg_name: name,
  vg_uuid: name,
  vg_size: bytes,
  vg_free: bytes,
  vg_extent_size: bytes,
  vg_missing_pv_count: z.string().regex(/^\d+$/, "is not a count").transform(Number),
  vg_exported: z.string(),
});
/** A row of `lvs`. */
export const logicalVolumeRow = z.object({
  lv_name: name,
  lv_uuid: name,
  lv_size: bytes,
  lv_attr: z.string().transform((text, context) => {
    const attributes = parseAttributes(text);
    if (attributes !== undefined) {
      return { ...attributes, text };
    }
    context.addIssue({ code: "custom", message: "has too few characters" });
    return z.NEVER;
  }),
  lv_tags: z.string(),
  lv_kernel_major: deviceNumber,
  lv_kernel_minor: deviceNumber,
  pool_lv: z.string(),
  origin: z.string(),
  origin_size: optionalBytes,
  data_percent: percent,
  metadata_percent: percent,
  lv_metadata_size: optionalBytes,
});
/** A row of `pvs`. */
export const physicalVolumeRow = z.object({
  pv_name: name,
  pv_uuid: name,
  pv_size: bytes,
  pv_used: bytes,
  pv_allocatable: z.string(),
  pv_missing: z.string(),
  pv_duplicate: z.string(),
  pv_major: deviceNumber,
  pv_minor: deviceNumber,
});
/** A row of `pvs --segments`: a range of extents of a physical volume, in use by a volume or free. */
export const segmentRow = z.object({ pv_name: name, lv_name: z.string(), lv_parent: z.string() });

/** The rows of a report. One for which no column was requested has empty rows. */
function rowsOf<Row extends z.ZodObject>(row: Row) {
  const isEmpty = (one: unknown) => typeof one === "object" && one !== null && Object.keys(one).length === 0;
  return z
    .array(z.unknown())
    .default([])
    .transform((rows) => (rows.some(isEmpty) ? rows.filter((one) => !isEmpty(one)) : rows))
    .pipe(z.array(row));
}

/** The JSON of `lvm fullreport`: an entry for each volume group, and one for physical volumes outside any group. */
export const fullReport = z.object({
  report: z.array(
    z.object({
      // The entry of physical volumes outside any group has neither of these.
      vg: z.array(volumeGroupRow).max(1).default([]),
      // `createReportParser` checks these rows, of which most have not changed since the last report.
      lv: z.array(z.unknown()).default([]),
      pv: rowsOf(physicalVolumeRow),
      pvseg: rowsOf(segmentRow),
    }),
  ),
});

/** The columns of each report that the parser needs, named as in `vgs -o help` and the like. */
export const reportFields = {
  vg: Object.keys(volumeGroupRow.shape),
  lv: Object.keys(logicalVolumeRow.shape),
  pv: Object.keys(physicalVolumeRow.shape),
  pvseg: Object.keys(segmentRow.shape),
} as const;
