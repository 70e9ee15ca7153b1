import type { WatchClusterStatsResponse } from "../../../gen/hostplane/v1/storage_pb.ts";

/** Whether a bare number could not be read: it is 0 then, which is no figure. */
export function isMissing({ missing }: WatchClusterStatsResponse, field: string): boolean {
  return missing.some((each) => each.field === field);
}
