import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Event } from "../../../../gen/hostplane/v1/event_pb.ts";
import { keyOfResource } from "../../../host/key-of-resource.ts";
import { isFailedExit } from "../../../parts/event/event-severity.ts";
import { localClock } from "../../../parts/text/local-time.ts";
import { type Problem, ranks } from "./problem.ts";

/** A container that ends with an error so often does not get well by itself. */
const manyExits = 3;
/** A container whose last exit is longer ago has recovered. */
const recentMs = 10 * 60_000;

/** Failed exits of the containers of one pod. */
interface Exits {
  readonly count: number;
  readonly first: Event;
  readonly last: Event;
}

/**
 * Returns one problem for each pod whose containers end with an error again and again.
 * @param events newest first
 * @param isThere reports whether a pod, by `keyOfResource`, still exists
 */
export function exitProblems(
  events: readonly Event[],
  nowMs: number,
  isThere: (key: string) => boolean,
): readonly Problem[] {
  const exits = new Map<string, Exits>();
  for (const event of events) {
    if (event.detail.case === "pod" && isFailedExit(event.detail.value.exitCode)) {
      const name = event.resource.replace(/\/containers\/.*$/, "");
      const pod = keyOfResource({ host: event.fleetHost, name });
      const before = exits.get(pod);
      exits.set(pod, { count: (before?.count ?? 0) + 1, first: event, last: before?.last ?? event });
    }
  }
  return [...exits]
    .filter(([pod, { count, last }]) => count >= manyExits && atMs(last) > nowMs - recentMs && isThere(pod))
    .map(([pod, { count, first, last }]) => {
      const { name, container, exitCode } = last.detail.case === "pod" ? last.detail.value : {};
      return {
        key: pod,
        severity: "warn" as const,
        rank: ranks.repeated,
        title: `Pod ${name} exited ${count} times`,
        cause: `${container}, exit code ${exitCode}, since ${localClock(new Date(atMs(first)))}`,
        place: last.fleetHost || last.host,
        sinceMs: atMs(last),
      };
    });
}

function atMs({ at }: Event): number {
  return at === undefined ? 0 : timestampMs(at);
}
