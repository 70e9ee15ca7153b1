import fc from "fast-check";
import type { RuntimeEvent } from "../../../../../adapters/podman/adapter.ts";
import type { Fact, PodFact } from "../../../../../server/domains/pods/events/fact.ts";
import type { ObservedPods } from "../../../../../server/domains/pods/events/observed-pods.ts";

export const nothing: ObservedPods = { last: null, pods: [], images: [], comparing: null };

const ms = 1_000_000n;

export interface EventNames {
  readonly pod: string;
  /** A container; its name ends in `infra` for the infra container. */
  readonly container?: string;
}

/** Creates an event of a pod or a container at the given time in milliseconds. */
export function eventAt(
  kind: Exclude<RuntimeEvent["kind"], "gap" | "imageAdded" | "imageRemoved">,
  atMs: number,
  { pod, container = "" }: EventNames,
  exitCode?: number,
): RuntimeEvent {
  const timeNs = BigInt(atMs) * ms;
  const facts = {
    timeNs,
    key: `${atMs}:${kind}:${pod}:${container}`,
    podId: `id-${pod}`,
    podUuid: `uuid-${pod}`,
    podName: pod,
  };
  if (kind === "podCreated" || kind === "podRemoved") {
    return { kind, ...facts };
  }
  return {
    kind,
    ...facts,
    containerId: `id-${pod}-${container}`,
    containerName: container,
    isInfra: container.endsWith("infra"),
    ...(exitCode === undefined ? {} : { exitCode }),
  };
}

export function gapAt(atMs: number, sinceMs: number): RuntimeEvent {
  const timeNs = BigInt(atMs) * ms;
  return { kind: "gap", timeNs, key: `${atMs}:gap`, sinceNs: BigInt(sinceMs) * ms };
}

const kinds = [
  "podCreated",
  "podRemoved",
  "containerCreated",
  "containerStarted",
  "containerStarted",
  "containerExited",
  "containerExited",
  "containerRemoved",
] as const;

/** Events in any order, plausible or not, of three pods with one or two apps each, with gaps. */
export const anyEvents: fc.Arbitrary<readonly RuntimeEvent[]> = fc
  .array(
    fc.record({
      kind: fc.oneof(
        { weight: 12, arbitrary: fc.constantFrom(...kinds) },
        { weight: 1, arbitrary: fc.constant("gap" as const) },
      ),
      pod: fc.constantFrom("a", "b", "c"),
      container: fc.constantFrom("infra", "one", "two"),
      afterMs: fc.integer({ min: -90, max: 400 }),
      exitCode: fc.integer({ min: 0, max: 255 }),
    }),
    { maxLength: 60 },
  )
  .map((steps) => {
    let atMs = 10_000;
    return steps.map(({ kind, pod, container, afterMs, exitCode }) => {
      atMs += afterMs;
      return kind === "gap"
        ? gapAt(atMs, atMs - 500)
        : eventAt(kind, atMs, { pod, container }, kind === "containerExited" ? exitCode : undefined);
    });
  });

/** Summarizes facts without their times: `pod.started web`, `container.exited web/app 3`. */
export function wordsOf(facts: readonly Fact[]): readonly string[] {
  return facts.map((fact) => {
    if (!("uuid" in fact)) {
      return "id" in fact ? `${fact.type} ${fact.id}` : fact.type;
    }
    const container = fact.container === undefined ? "" : `/${fact.container.name}`;
    const code = fact.exitCode === undefined ? "" : ` ${fact.exitCode}`;
    return `${fact.type} ${fact.name}${container}${code}${fact.isReconciled ? " (reconciled)" : ""}`;
  });
}

const isPodFact = (fact: Fact): fact is PodFact => "uuid" in fact;

/** Returns facts that contradict earlier ones: starts and exits of each pod and app must alternate. */
export function contradictionsIn(facts: readonly Fact[]): readonly string[] {
  const state = new Map<string, string>();
  return facts.filter(isPodFact).flatMap((fact) => {
    const pod = state.get(fact.uuid) ?? "gone";
    const appKey = `${fact.uuid}/${fact.container?.id}`;
    const app = state.get(appKey) ?? "off";
    const is = (isAllowed: boolean, key: string, next: string) => {
      state.set(key, next);
      return isAllowed ? [] : [`${fact.type} of ${fact.uuid} ${fact.container?.name ?? ""}`];
    };
    const hasAppUp = [...state].some(([key, value]) => key.startsWith(`${fact.uuid}/`) && value === "on");
    switch (fact.type) {
      case "pod.created":
        return is(pod === "gone", fact.uuid, "off");
      case "pod.started":
        return is(pod === "off", fact.uuid, "on");
      case "pod.exited":
        return is(pod === "on" && !hasAppUp, fact.uuid, "off");
      case "pod.removed":
        return is(pod === "off" && !hasAppUp, fact.uuid, "gone");
      case "container.started":
        return is(app === "off" && pod === "on", appKey, "on");
      case "container.exited":
        return is(app === "on" && pod === "on", appKey, "off");
      default:
        return [];
    }
  });
}
