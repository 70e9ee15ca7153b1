import type { RuntimePod } from "../../../../adapters/podman/runtime-state.ts";
import { isUp } from "./pod-containers.ts";

/** State of a pod before a change. A type and not an interface, so that it is assignable to Json. */
export type PodBefore = readonly {
  readonly id: string;
  readonly name: string;
  readonly isUp: boolean;
}[];

/** Returns the state of a pod, to be compared after a change. */
export function podBefore({ containers }: Pick<RuntimePod, "containers">): PodBefore {
  return containers.map((each) => ({ id: each.id, name: each.name, isUp: isUp(each) }));
}

/**
 * Describes how a pod has changed, for people; undefined when it has not.
 * @param pod undefined when it is gone
 */
export function describeDifference(
  podName: string,
  before: PodBefore,
  pod: Pick<RuntimePod, "containers"> | undefined,
): string | undefined {
  if (pod === undefined) {
    return `pod ${podName} is removed`;
  }
  const now = new Map(podBefore(pod).map((each) => [each.id, each]));
  const removed = before.filter(({ id }) => !now.has(id));
  const ended = before.filter(({ id, isUp: wasUp }) => wasUp && now.get(id)?.isUp === false);
  const started = before.filter(({ id, isUp: wasUp }) => !wasUp && now.get(id)?.isUp === true);
  const words = [
    [removed, "is removed"],
    [ended, "is no longer running"],
    [started, "is running"],
  ] as const;
  const changes = words.flatMap(([containers, what]) => containers.map(({ name }) => `${name} ${what}`));
  return changes.length === 0 ? undefined : `in pod ${podName}, ${changes.join(", ")}`;
}

/** Returns the facts that a change of a pod follows from. */
export function factsOfPod(pod: Pick<RuntimePod, "id" | "containers">): Readonly<Record<string, string>> {
  const containers = podBefore(pod).map((each) => `${each.name} ${each.id} ${each.isUp ? "up" : "down"}`);
  return { id: pod.id, containers: containers.join(", ") };
}
