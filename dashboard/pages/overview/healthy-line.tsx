import { durationMs } from "@bufbuild/protobuf/wkt";
import { host } from "../../host/host.ts";
import { hosts } from "../../live/hosts.ts";
import { inventory } from "../../live/inventory.ts";
import type { Systems } from "../../live/systems.ts";
import { isServed } from "../../parts/health/backend-health.ts";
import { Status } from "../../parts/status.tsx";
import { TimeText } from "../../parts/text/time-text.tsx";
import { type HealthyCount, healthyCounts, healthyText } from "./healthy-counts.ts";

/** What is healthy, in one line, and when it was read. */
export function HealthyLine({ systems }: { readonly systems: Systems | undefined }) {
  const { resources, ofHosts } = inventory.value;
  const byType = Map.groupBy([...resources.values(), ...ofHosts.values()], ({ type }) => type);
  const counts = [...hostCount(), ...healthyCounts(byType)];
  const readMs = systems && readAtMs(systems);
  return counts.length === 0 ? null : (
    <p class="healthy">
      <Status kind="ok" />
      <strong>Healthy:</strong>
      <span class="soft">{counts.map(healthyText).join(" · ")}</span>
      {readMs !== undefined && (
        <span class="quiet small when">
          read <TimeText atMs={readMs} />
        </span>
      )}
    </p>
  );
}

/** How many hosts of the fleet are connected; nothing on a gateway that is not a hub. */
function hostCount(): readonly HealthyCount[] {
  const all = hosts.value.hosts ?? [];
  const healthy = all.filter(({ connected }) => connected).length;
  return all.length === 0 || host !== undefined
    ? []
    : [{ name: all.length === 1 ? "host" : "hosts", healthy, total: all.length }];
}

/** When the oldest of what is shown was read from its system, in milliseconds since 1970. */
function readAtMs({ backends, atMs }: Systems): number {
  const ages = backends
    .filter(isServed)
    .flatMap(({ snapshotAge }) => (snapshotAge === undefined ? [] : [durationMs(snapshotAge)]));
  return atMs - Math.max(0, ...ages);
}
