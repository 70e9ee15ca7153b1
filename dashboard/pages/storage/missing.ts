import type { WatchClusterStatsResponse } from "../../../gen/hostplane/v1/storage_pb.ts";

/** Reports whether a number could not be read. It is then 0, which must not be shown. */
export function isMissing({ missing }: WatchClusterStatsResponse, field: string): boolean {
  return missing.some((each) => each.field === field);
}
