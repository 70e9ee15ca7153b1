import { timestampMs } from "@bufbuild/protobuf/wkt";
import { computed } from "@preact/signals";
import type { Event } from "../../../../gen/hostplane/v1/event_pb.ts";
import { host } from "../../../host/host.ts";
import { keyOfResource } from "../../../host/key-of-resource.ts";
import { failedOperations, unsettledOperations } from "../../../live/current-operations.ts";
import { recentEvents } from "../../../live/event-stream.ts";
import { hosts } from "../../../live/hosts.ts";
import { inventory } from "../../../live/inventory.ts";
import { nowMs } from "../../../live/now.ts";
import { systems } from "../../../live/systems.ts";
import { eventSeverity } from "../../../parts/event/event-severity.ts";
import { hostRows } from "../../../parts/health/host-needs.ts";
import { kindOf, pathOfResource } from "../../../resources/kinds.ts";
import { session } from "../../../session.ts";
import { exitProblems } from "./exit-problems.ts";
import { hostProblems } from "./host-problems.ts";
import { operationProblems } from "./operation-problems.ts";
import { mostUrgentFirst, type Problem } from "./problem.ts";
import { resourceProblems } from "./resource-problems.ts";
import { systemProblems } from "./system-problems.ts";

/** Everything that needs a person, the most urgent first, live. */
export const problems = computed<readonly Problem[]>(() => {
  const { resources, ofHosts, problems: domainProblems } = inventory.value;
  const podOf = (key: string) => resources.get(key) ?? ofHosts.get(key);
  const exits = exitProblems(recentEvents.value, nowMs.value, (key) => podOf(key) !== undefined).map(
    (problem) => {
      const pod = podOf(problem.key);
      return { ...problem, path: pathOfResource(pod) };
    },
  );
  const isExiting = new Set(exits.map(({ key }) => key));
  const times = problemTimes(recentEvents.value);
  const ofResources = resourceProblems({
    resources: [...resources.values(), ...ofHosts.values()],
    textOf: (resource) => {
      const kind = kindOf(resource);
      return {
        type: kind.title,
        place: resource.host || kind.placeOf?.(resource) || (resource.labels.host ?? ""),
        path: pathOfResource(resource),
      };
    },
    sinceMsOf: (resource) => times.get(keyOfResource(resource)),
  }).filter(({ key }) => !isExiting.has(key));
  const shown = session.value;
  const hubVersion = shown.state === "in" ? shown.info.version : "";
  return mostUrgentFirst([
    ...(host === undefined ? hostProblems(hostRows(hosts.value.hosts ?? [], hubVersion, nowMs.value)) : []),
    ...systemProblems(systems.value.value?.backends ?? [], domainProblems),
    ...ofResources,
    ...exits,
    ...operationProblems(unsettledOperations.value.value ?? [], failedOperations.value),
  ]);
});

/**
 * Returns when the last problem of each resource was reported, in milliseconds since 1970, by `keyOfResource`.
 * @param events newest first
 */
function problemTimes(events: readonly Event[]): ReadonlyMap<string, number> {
  const times = new Map<string, number>();
  for (const event of events) {
    const { kind } = eventSeverity(event);
    const key = keyOfResource({ host: event.fleetHost, name: event.resource });
    if (event.at !== undefined && (kind === "failed" || kind === "warn") && !times.has(key)) {
      times.set(key, timestampMs(event.at));
    }
  }
  return times;
}
