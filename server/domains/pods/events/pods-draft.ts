import type { Fact } from "./fact.ts";
import type { ObservedImage, ObservedPod, ObservedPods } from "./observed-pods.ts";
import { createPodLife, type PodLife } from "./pod-life.ts";

/** Pods and images while events are applied to them, and the resulting facts. */
export interface PodsDraft {
  readonly lives: Map<string, PodLife>;
  readonly images: Map<string, ObservedImage>;
  readonly facts: Fact[];
  /** Adds a pod about which nothing was reported yet. */
  addLife(pod: Pick<ObservedPod, "id" | "uuid" | "name">): PodLife;
  /** Returns the result. */
  finish(rest: Pick<ObservedPods, "last" | "comparing">): PodsChanges;
}

/** Facts, and the state of pods and images after them. */
export interface PodsChanges {
  readonly observed: ObservedPods;
  readonly facts: readonly Fact[];
}

/** @param observed the state before the events; it is not modified */
export function createPodsDraft({ pods, images }: Pick<ObservedPods, "pods" | "images">): PodsDraft {
  const facts: Fact[] = [];
  const emit = (fact: Fact) => void facts.push(fact);
  const lives = new Map(pods.map((pod) => [pod.id, createPodLife(pod, emit)]));
  const known = new Map(images.map((image) => [image.id, image]));
  return {
    lives,
    images: known,
    facts,
    addLife(pod) {
      const fresh = { isCreated: false, isStarted: false, pendingExitNs: null, containers: [] };
      const life = createPodLife({ ...pod, ...fresh }, emit);
      lives.set(pod.id, life);
      return life;
    },
    finish(rest) {
      const all = [...lives.values()].map(({ pod }) => pod);
      return {
        observed: {
          ...rest,
          pods: inOrder(all),
          images: inOrder([...known.values()]),
        },
        facts,
      };
    },
  };
}

function inOrder<T extends { readonly id: string }>(values: readonly T[]): T[] {
  return values.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}
