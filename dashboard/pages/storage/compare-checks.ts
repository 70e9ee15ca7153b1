import type { CephHealthCheck } from "../../../gen/hostplane/v1/storage_pb.ts";

/** Orders errors before warnings, and muted checks last. */
export function compareChecks(one: CephHealthCheck, other: CephHealthCheck): number {
  const rank = ({ severity, muted }: CephHealthCheck) => (muted ? 2 : severity === "HEALTH_ERR" ? 0 : 1);
  return rank(one) - rank(other) || (one.code < other.code ? -1 : 1);
}
