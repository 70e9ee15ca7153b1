import { durationMs } from "@bufbuild/protobuf/wkt";
import { resourcesByType } from "../../live/inventory.ts";
import type { Systems } from "../../live/systems.ts";
import { isServed } from "../../parts/health/backend-health.ts";
import { Status } from "../../parts/status.tsx";
import { TimeText } from "../../parts/text/time-text.tsx";
import { healthyCounts, healthyText } from "./healthy-counts.ts";

/** What is healthy, in one line, and when it was read. */
export function HealthyLine({ systems }: { readonly systems: Systems | undefined }) {
  const counts = healthyCounts(resourcesByType.value);
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

/** When the oldest of what is shown was read from its system, in milliseconds since 1970. */
function readAtMs({ backends, atMs }: Systems): number {
  const ages = backends
    .filter(isServed)
    .flatMap(({ snapshotAge }) => (snapshotAge === undefined ? [] : [durationMs(snapshotAge)]));
  return atMs - Math.max(0, ...ages);
}
