import type { PodFact } from "./fact.ts";
import type { ObservedContainer, ObservedPod } from "./observed-pods.ts";

/** How long after the exit of its last app a pod counts as exited, unless an app is started again: that is a restart. */
export const restartNs = 500_000_000n;

/** Time of a start or exit, and how it is known. */
export interface Moment {
  readonly timeNs: bigint;
  /** Not observed live. */
  readonly isReconciled: boolean;
}

type Draft<T> = { -readonly [K in keyof T]: T[K] };

/** A pod while events are applied to it. */
export interface PodLife {
  readonly pod: Readonly<ObservedPod>;
  /** The container's current state; undefined if the pod has no such container. */
  container(id: string): ObservedContainer | undefined;
  /** For a known container, updates the name, which may have changed. */
  addContainer(container: Pick<ObservedContainer, "id" | "name" | "isInfra">): void;
  /** Does nothing if the creation was already reported. */
  create(moment: Moment): void;
  /** Does nothing if the name is known. */
  learnName(name: string): void;
  start(containerId: string, moment: Moment): void;
  exit(containerId: string, moment: Moment, exitCode: number | null): void;
  /** Ends a running container. */
  removeContainer(containerId: string, moment: Moment): void;
  hold(containerId: string, held: ObservedContainer["held"]): void;
  /** Ends everything that still runs. */
  remove(moment: Moment): void;
  /** Reports the pod's exit, if none of its apps was started in time. */
  passTime(timeNs: bigint): void;
}

/**
 * Tracks the events of one pod, so that starts and exits alternate, for its apps and for the pod itself.
 * @param emit receives each fact, in order
 */
export function createPodLife(observed: ObservedPod, emit: (fact: PodFact) => void): PodLife {
  const pod: Draft<ObservedPod> = {
    ...observed,
    containers: observed.containers.map((each) => ({ ...each })),
  };
  const containers = new Map<string, Draft<ObservedContainer>>(pod.containers.map((each) => [each.id, each]));

  function emitPod(type: PodFact["type"], { timeNs, isReconciled }: Moment): void {
    emit({ type, timeNs, isReconciled, uuid: pod.uuid, name: pod.name });
  }

  function emitContainer(
    type: PodFact["type"],
    { id, name }: ObservedContainer,
    moment: Moment,
    exitCode: number | null,
  ) {
    const { timeNs, isReconciled } = moment;
    const ended = exitCode === null ? {} : { exitCode };
    emit({ type, timeNs, isReconciled, uuid: pod.uuid, name: pod.name, container: { id, name }, ...ended });
  }

  const isUp = (isInfra: boolean) =>
    [...containers.values()].some((each) => each.isRunning && each.isInfra === isInfra);

  function endPod(moment: Moment): void {
    if (pod.isStarted) {
      emitPod("pod.exited", moment);
    }
    pod.isStarted = false;
    pod.pendingExitNs = null;
  }

  function create(moment: Moment): void {
    if (!pod.isCreated) {
      pod.isCreated = true;
      emitPod("pod.created", moment);
    }
  }

  function exit(containerId: string, moment: Moment, exitCode: number | null): void {
    const container = containers.get(containerId);
    if (container?.isRunning !== true) {
      return;
    }
    container.isRunning = false;
    container.changedAtNs = moment.timeNs;
    container.held = null;
    if (!container.isInfra) {
      emitContainer("container.exited", container, moment, exitCode);
    }
    if (isUp(false)) {
      return;
    }
    if (!isUp(true)) {
      endPod(pod.pendingExitNs === null ? moment : { ...moment, timeNs: pod.pendingExitNs });
    } else if (!container.isInfra && pod.isStarted) {
      pod.pendingExitNs = moment.timeNs;
    }
  }

  function passTime(timeNs: bigint): void {
    if (pod.pendingExitNs !== null && timeNs > pod.pendingExitNs + restartNs) {
      endPod({ timeNs: pod.pendingExitNs, isReconciled: false });
    }
  }

  return {
    get pod() {
      return { ...pod, containers: [...containers.values()] };
    },
    container: (id) => containers.get(id),
    addContainer(added) {
      const known = containers.get(added.id);
      if (known === undefined) {
        containers.set(added.id, { ...added, isRunning: false, changedAtNs: null, held: null });
      } else {
        known.name = added.name || known.name;
      }
    },
    create,
    learnName(name) {
      pod.name ||= name;
    },
    start(containerId, moment) {
      const container = containers.get(containerId);
      if (container === undefined || container.isRunning) {
        return;
      }
      create({ ...moment, isReconciled: true });
      if (!container.isInfra) {
        passTime(moment.timeNs);
        pod.pendingExitNs = null;
      }
      if (!pod.isStarted) {
        pod.isStarted = true;
        emitPod("pod.started", moment);
      }
      container.isRunning = true;
      container.changedAtNs = moment.timeNs;
      container.held = null;
      if (!container.isInfra) {
        emitContainer("container.started", container, moment, null);
      }
    },
    exit,
    removeContainer(containerId, moment) {
      exit(containerId, { ...moment, isReconciled: true }, null);
      containers.delete(containerId);
    },
    hold(containerId, held) {
      const container = containers.get(containerId);
      if (container !== undefined) {
        container.held = held;
      }
    },
    remove(moment) {
      create({ ...moment, isReconciled: true });
      const isSeen = pod.pendingExitNs !== null;
      // The apps before the infra container.
      for (const { id } of [...containers.values()].toSorted(
        (a, b) => Number(a.isInfra) - Number(b.isInfra),
      )) {
        exit(id, { ...moment, isReconciled: !isSeen }, null);
      }
      endPod({ timeNs: pod.pendingExitNs ?? moment.timeNs, isReconciled: !isSeen });
      emitPod("pod.removed", moment);
    },
    passTime,
  };
}
