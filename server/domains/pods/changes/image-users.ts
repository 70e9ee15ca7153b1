import type { PodRuntime } from "../../../../adapters/podman/adapter.ts";
import type { RuntimePod } from "../../../../adapters/podman/runtime-state.ts";
import { namesOf } from "./pod-containers.ts";

/** Users of an image that are removed with it by force: containers of one pod, or a container outside of pods. */
export interface ImageUsers {
  /** Undefined for containers outside of pods. */
  readonly podUuid: string | undefined;
  /** For people: `pod web`, `the container alone`. */
  readonly who: string;
  /** For people: what is lost with it. */
  readonly loss: string;
}

/**
 * Reads all users of an image from the runtime: pods first.
 * @param pods for their names
 * @throws InfraError as `PodRuntime.imageUsers`
 */
export async function readImageUsers(
  runtime: Pick<PodRuntime, "imageUsers">,
  imageId: string,
  pods: readonly RuntimePod[],
  signal: AbortSignal,
): Promise<readonly ImageUsers[]> {
  const users = await runtime.imageUsers(imageId, signal);
  const byPod = Map.groupBy(users, ({ podUuid }) => podUuid);
  const outside = byPod.get(undefined) ?? [];
  const inPods = [...byPod].flatMap(([podUuid, containers]) => {
    if (podUuid === undefined) {
      return [];
    }
    const who = `pod ${pods.find(({ uuid }) => uuid === podUuid)?.name ?? podUuid}`;
    // Removing the infra container, which holds the namespaces, removes all containers of the pod.
    const what = containers.some(({ isInfra }) => isInfra)
      ? `${who} with all its containers`
      : `${namesOf(containers)} of ${who}`;
    return [{ podUuid, who, loss: `${what}, with their work in progress and data` }];
  });
  return [
    ...inPods,
    ...outside.map(({ name }) => ({
      podUuid: undefined,
      who: `the container ${name}`,
      loss: `the container ${name}, which is in no pod, with its work in progress and data`,
    })),
  ];
}

const maxNamed = 10;

/** Returns `pod web, the container alone and 3 more`, for people. */
export function describeImageUsers(users: readonly ImageUsers[]): string {
  const named = users.slice(0, maxNamed).map(({ who }) => who);
  return users.length > named.length
    ? `${named.join(", ")} and ${users.length - named.length} more`
    : named.join(", ");
}
