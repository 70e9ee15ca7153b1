import { type Backend, BackendHealth, BackendKind } from "../../../gen/hostplane/v1/system_pb.ts";

/** Reports whether a system is configured. */
export function isServed({ kind }: Backend): boolean {
  return kind === BackendKind.REAL || kind === BackendKind.SANDBOX;
}

/** Reports whether a configured system is degraded or unreachable. */
export function isLacking(backend: Backend): boolean {
  const { health, missing } = backend;
  const isWell = health === BackendHealth.OK || health === BackendHealth.UNKNOWN;
  return isServed(backend) && (!isWell || missing.length > 0);
}
