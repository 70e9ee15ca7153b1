import type { Host } from "../../../gen/hostplane/v1/fleet_pb.ts";
import { BackendHealth, BackendKind } from "../../../gen/hostplane/v1/system_pb.ts";

/** Names the systems of a host that are on, each once; those that do not work are marked. Its store is not one of them. */
export function hostSystemsText({ report }: Pick<Host, "report">): string {
  const systems = (report?.backends ?? []).filter(
    ({ kind, domain }) => domain !== "system" && (kind === BackendKind.REAL || kind === BackendKind.SANDBOX),
  );
  const byName = Map.groupBy(systems, ({ name }) => name);
  return [...byName]
    .map(([name, all]) => (all.every(({ health }) => health === BackendHealth.OK) ? name : `${name}!`))
    .join(", ");
}
