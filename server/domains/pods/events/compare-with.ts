import type { PodContainer, RuntimePod, RuntimeState } from "../../../../adapters/podman/runtime-state.ts";
import type { ObservedContainer, ObservedPods } from "./observed-pods.ts";
import type { PodLife } from "./pod-life.ts";
import { createPodsDraft, type PodsChanges, type PodsDraft } from "./pods-draft.ts";

/** A start or exit that was not observed live. */
interface Transition {
  readonly container: Pick<ObservedContainer, "id" | "isInfra">;
  readonly isStart: boolean;
  readonly timeNs: bigint;
  readonly exitCode: number | null;
}

/**
 * Maximum delay between a container's start and its record. A start time further back was set by a clock that has been set
 * back.
 */
const recordedWithinNs = 30_000_000_000n;

/**
 * Derives the facts that explain how the state differs from what was last reported, except for those covered by events,
 * followed by the gap if there is one.
 * @param onTheirWay pods, containers and images with events that are not processed yet
 */
export function compareWith(
  before: ObservedPods,
  state: RuntimeState,
  onTheirWay: ReadonlySet<string>,
  nowNs: bigint,
): PodsChanges {
  const draft = createPodsDraft(before);
  const seen = new Set(before.comparing?.seen);
  const isReported = (id: string) => seen.has(id) || onTheirWay.has(id);

  const there = new Map(state.pods.map((pod) => [pod.id, pod]));
  const unreadable = new Set(state.unreadable.map(({ podId }) => podId));
  for (const [id, life] of draft.lives) {
    if (!there.has(id) && !unreadable.has(id) && !isReported(id)) {
      if (life.pod.isCreated) {
        life.remove({ timeNs: nowNs, isReconciled: true });
      }
      draft.lives.delete(id);
    }
  }
  for (const pod of state.pods.filter(({ id }) => !unreadable.has(id))) {
    const known = draft.lives.get(pod.id);
    if (known !== undefined || !isReported(pod.id)) {
      const { id, uuid, name } = pod;
      comparePod(known ?? draft.addLife({ id, uuid, name }), pod, isReported, nowNs);
    }
  }
  compareImages(draft, state, isReported, nowNs);

  const gap = before.comparing?.gap ?? null;
  if (gap !== null) {
    draft.facts.push({ type: "gap", ...gap });
  }
  return draft.finish({ last: before.last, comparing: null });
}

/**
 * Returns the initial state, when nothing was ever reported; reports nothing.
 * @param last the newest event in the runtime's record
 */
export function firstObserved(state: RuntimeState, last: ObservedPods["last"], nowNs: bigint): ObservedPods {
  const draft = createPodsDraft({ pods: [], images: [] });
  for (const pod of state.pods) {
    const life = draft.addLife({ id: pod.id, uuid: pod.uuid, name: pod.name });
    comparePod(life, pod, () => false, nowNs);
    life.passTime(nowNs);
  }
  for (const { id, names } of state.images) {
    draft.images.set(id, { id, names: [...names], addedAtNs: null });
  }
  return draft.finish({ last, comparing: null }).observed;
}

function comparePod(
  life: PodLife,
  pod: RuntimePod,
  isReported: (id: string) => boolean,
  nowNs: bigint,
): void {
  life.learnName(pod.name);
  life.create({ timeNs: pod.createdAtNs, isReconciled: true });
  const there = new Set(pod.containers.map(({ id }) => id));
  const gone = life.pod.containers.filter(({ id }) => !there.has(id) && !isReported(id));
  const transitions = pod.containers
    .filter(({ id }) => life.container(id) !== undefined || !isReported(id))
    .flatMap((container) => {
      const { id, name, isInfra } = container;
      life.addContainer({ id, name, isInfra });
      return isReported(container.id) ? [] : transitionsOf(life.container(container.id), container, nowNs);
    });
  for (const { container, isStart, timeNs, exitCode } of transitions.toSorted(byTime)) {
    const moment = { timeNs, isReconciled: true };
    if (isStart) {
      life.start(container.id, moment);
    } else {
      life.exit(container.id, moment, exitCode);
    }
  }
  for (const { id } of gone) {
    life.removeContainer(id, { timeNs: nowNs, isReconciled: true });
  }
}

function byTime(a: Transition, b: Transition): number {
  return a.timeNs < b.timeNs ? -1 : a.timeNs > b.timeNs ? 1 : 0;
}

/** Returns the transitions from a container's last reported state to its current one. */
function transitionsOf(
  known: ObservedContainer | undefined,
  container: PodContainer,
  nowNs: bigint,
): readonly Transition[] {
  const { state, startedAtNs, exitedAtNs = nowNs } = container;
  if (known === undefined || state === "unknown") {
    return [];
  }
  // The runtime sets the start time before it records the start.
  const { changedAtNs, isRunning } = known;
  const isStartedAnew =
    startedAtNs !== undefined &&
    (changedAtNs === null ||
      startedAtNs > changedAtNs ||
      (isRunning && startedAtNs < changedAtNs - recordedWithinNs));
  const startNs = startedAtNs ?? nowNs;
  const transition = (isStart: boolean, timeNs: bigint, exitCode: number | null = null) => ({
    container,
    isStart,
    timeNs,
    exitCode,
  });
  const start = transition(true, startNs);
  const endNs = exitedAtNs > startNs ? exitedAtNs : startNs;
  const exit = transition(false, endNs, container.exitCode ?? null);
  if (state === "created") {
    return isRunning ? [transition(false, nowNs)] : [];
  }
  const missed = isRunning && isStartedAnew ? [transition(false, startNs)] : [];
  const hasStarted = isStartedAnew || (!isRunning && state !== "exited");
  const hasEnded = state === "exited" && (hasStarted || isRunning);
  return [...missed, ...(hasStarted ? [start] : []), ...(hasEnded ? [exit] : [])];
}

function compareImages(
  { images, facts }: PodsDraft,
  state: RuntimeState,
  isReported: (id: string) => boolean,
  nowNs: bigint,
): void {
  const there = new Set(state.images.map(({ id }) => id));
  for (const { id, names } of [...images.values()].filter(
    (image) => !there.has(image.id) && !isReported(image.id),
  )) {
    images.delete(id);
    facts.push({ type: "image.removed", id, names, timeNs: nowNs, isReconciled: true });
  }
  for (const { id, names: found } of state.images) {
    const known = images.get(id);
    const names = [...found];
    if (known !== undefined) {
      images.set(id, { ...known, names });
    } else if (!isReported(id)) {
      images.set(id, { id, names, addedAtNs: nowNs });
      facts.push({ type: "image.added", id, names, timeNs: nowNs, isReconciled: true });
    }
  }
}
