import type { MessageInitShape } from "@bufbuild/protobuf";
import type { CephOsds, CephState } from "../../../../adapters/ceph/adapter.ts";
import type { CephOsdSchema } from "../../../../gen/hostplane/v1/storage_pb.ts";
import type { FigureNotes } from "../figures/figure-notes.ts";

/** Converts OSDs to messages, sorted by id, with their usage if it could be read. */
export function osdMessages(
  { osds }: CephOsds,
  { osdUsage }: Pick<CephState, "osdUsage">,
  notes: FigureNotes,
): MessageInitShape<typeof CephOsdSchema>[] {
  for (const field of ["total_bytes", "used_bytes", "available_bytes", "pg_count"]) {
    notes.valueOf(`osds.${field}`, osdUsage);
  }
  const usageOf = new Map("ok" in osdUsage ? osdUsage.ok.map((each) => [each.id, each]) : []);
  return osds
    .toSorted((a, b) => a.id - b.id)
    .map(({ id, isUp, isIn, host, deviceClass, reweight }) => {
      const usage = usageOf.get(id);
      return {
        id,
        up: isUp,
        in: isIn,
        host: host ?? "",
        deviceClass: deviceClass ?? "",
        reweight,
        ...(usage && {
          totalBytes: usage.totalBytes,
          usedBytes: usage.usedBytes,
          availableBytes: usage.availableBytes,
          pgCount: notes.int32("osds.pg_count", usage.pgCount),
        }),
      };
    });
}
