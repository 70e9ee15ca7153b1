import { host } from "../../host/host.ts";
import { hosts } from "../../live/hosts.ts";
import { inventory } from "../../live/inventory.ts";
import { Status } from "../../parts/status.tsx";
import { type HealthyCount, healthyCounts, healthyText } from "./healthy-counts.ts";

/** What is healthy, in one line. The page's header shows whether it is live, and the table of systems how old each reading is. */
export function HealthyLine() {
  const { resources, ofHosts } = inventory.value;
  const byType = Map.groupBy([...resources.values(), ...ofHosts.values()], ({ type }) => type);
  const counts = [...hostCount(), ...healthyCounts(byType)];
  return counts.length === 0 ? null : (
    <p class="healthy">
      <Status kind="ok" />
      <strong>Healthy:</strong>
      <span class="soft">{counts.map(healthyText).join(" · ")}</span>
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
