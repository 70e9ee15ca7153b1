import type { RuntimeEvent } from "../../../../adapters/podman/adapter.ts";
import type { ObservedPods } from "./observed-pods.ts";
import { restartNs } from "./pod-life.ts";
import { createPodsDraft, type PodsChanges, type PodsDraft } from "./pods-draft.ts";

/** Records were seen up to 90 ms out of order, so a restart may be recorded after later events. */
const disorderNs = 300_000_000n;

type PodEvent = Extract<RuntimeEvent, { readonly kind: "podCreated" | "podRemoved" }>;
type ContainerEvent = Extract<RuntimeEvent, { readonly containerId: string }>;
type ImageEvent = Extract<RuntimeEvent, { readonly imageId: string }>;

/**
 * Derives facts from the runtime's events, given the last reported state. It is pure: the result does not depend on how the
 * events are batched. Starts and exits of a pod and of each app alternate, and a restart of a pod's last app is not an exit
 * of the pod. A gap must be followed by `compareWith`, which reports it.
 */
export function foldEvents(before: ObservedPods, events: readonly RuntimeEvent[]): PodsChanges {
  const draft = createPodsDraft(before);
  let { last, comparing } = before;
  let seen = new Set(comparing?.seen);

  for (const event of events) {
    switch (event.kind) {
      case "gap": {
        const { sinceNs } = event;
        const gap = comparing?.gap ?? { sinceNs, reason: "events since then are no longer recorded" };
        last = event.place ?? last;
        comparing = { gap: sinceNs < gap.sinceNs ? { ...gap, sinceNs } : gap, seen: [] };
        seen = new Set();
        break;
      }
      case "imageAdded":
      case "imageRemoved":
        foldImage(draft, event);
        seen.add(event.imageId);
        break;
      default: {
        for (const life of draft.lives.values()) {
          life.passTime(event.timeNs - disorderNs);
        }
        const hasGap = comparing?.gap != null;
        if ("containerId" in event) {
          foldContainer(draft, event, hasGap && !seen.has(event.containerId));
          // A container that was only created still has to be compared with its current state.
          if (event.kind !== "containerCreated") {
            seen.add(event.containerId);
          }
        } else {
          foldPod(draft, event, hasGap && !seen.has(event.podId));
        }
        seen.add(event.podId);
        last = { key: event.key, timeNs: event.timeNs };
      }
    }
  }
  return draft.finish({ last, comparing: comparing && { ...comparing, seen: [...seen] } });
}

/** Reports the exit of pods that had no app started again by then. */
export function passTime(before: ObservedPods, nowNs: bigint, podIds: ReadonlySet<string>): PodsChanges {
  const draft = createPodsDraft(before);
  for (const id of podIds) {
    draft.lives.get(id)?.passTime(nowNs - disorderNs);
  }
  return draft.finish(before);
}

/**
 * Returns when `passTime` will next report the exit of a pod, nanoseconds since 1970; undefined if no pod is waiting for
 * that.
 */
export function nextExitNs({ pods }: ObservedPods): bigint | undefined {
  const pending = pods.flatMap(({ pendingExitNs }) => pendingExitNs ?? []);
  const [first] = pending.toSorted((a, b) => (a < b ? -1 : 1));
  return first === undefined ? undefined : first + restartNs + disorderNs + 1n;
}

function foldImage({ images, facts }: PodsDraft, event: ImageEvent): void {
  const { imageId: id, imageNames, timeNs } = event;
  const known = images.get(id);
  const names = imageNames.length === 0 ? [...(known?.names ?? [])] : [...imageNames];
  if (event.kind === "imageAdded") {
    images.set(id, { id, names, addedAtNs: known === undefined ? timeNs : known.addedAtNs });
    if (known === undefined) {
      facts.push({ type: "image.added", id, names, timeNs, isReconciled: false });
    }
  } else if (images.delete(id)) {
    facts.push({ type: "image.removed", id, names, timeNs, isReconciled: false });
  }
}

/** Processes an event of a pod. @param isUnsure whether earlier events of it may have been missed */
function foldPod(draft: PodsDraft, event: PodEvent, isUnsure: boolean): void {
  const { podId: id, podUuid: uuid, podName: name, timeNs } = event;
  const moment = { timeNs, isReconciled: false };
  const known = draft.lives.get(id);
  if (event.kind === "podCreated") {
    const life = known ?? draft.addLife({ id, uuid, name });
    life.learnName(name);
    life.create(moment);
  } else if (known !== undefined || isUnsure) {
    (known ?? draft.addLife({ id, uuid, name })).remove(moment);
    draft.lives.delete(id);
  }
}

function foldContainer(draft: PodsDraft, event: ContainerEvent, isUnsure: boolean): void {
  const { podId, podUuid: uuid, podName: name, containerId: id, timeNs } = event;
  const moment = { timeNs, isReconciled: false };
  const isEnd = event.kind === "containerExited" || event.kind === "containerRemoved";
  const known = draft.lives.get(podId);
  // A removed container may appear in later records.
  if (known === undefined && isEnd && !(isUnsure && event.kind === "containerExited")) {
    return;
  }
  const life = known ?? draft.addLife({ id: podId, uuid, name });
  if (event.kind === "containerRemoved") {
    life.removeContainer(id, moment);
    // Nothing is left of a pod whose creation failed.
    if (!life.pod.isCreated && life.pod.containers.length === 0) {
      draft.lives.delete(podId);
    }
    return;
  }
  life.addContainer({ id, name: event.containerName, isInfra: event.isInfra });
  const container = life.container(id);
  if (event.kind === "containerCreated" || container === undefined) {
    return;
  }
  const { isRunning, held } = container;
  const exitCode = event.exitCode ?? null;
  const isStart = event.kind === "containerStarted";
  const happen = () => (isStart ? life.start(id, moment) : life.exit(id, moment, exitCode));
  if (isStart !== isRunning) {
    happen();
    if (held !== null && held.timeNs > timeNs) {
      const later = { timeNs: held.timeNs, isReconciled: false };
      if (isStart) {
        life.exit(id, later, held.exitCode);
      } else {
        life.start(id, later);
      }
    }
  } else if (isUnsure) {
    const missed = { timeNs, isReconciled: true };
    if (isStart) {
      life.exit(id, missed, null);
    } else {
      life.start(id, missed);
    }
    happen();
  } else {
    life.hold(id, { timeNs, exitCode });
  }
}
