import type { PodFact } from "./fact.ts";
import type { ObservedContainer, ObservedPod } from "./observed-pods.ts";

/** So long after the end of its last app a pod has exited, unless an app of it was started: that is a restart. */
export const restartNs = 500_000_000n;

/** When a start or an end was, and who says so. */
export interface Moment {
  readonly timeNs: bigint;
  /** Nobody saw it. */
  readonly isReconciled: boolean;
}

type Draft<T> = { -readonly [K in keyof T]: T[K] };

/** A pod while it is folded. */
export interface PodLife {
  readonly pod: Readonly<ObservedPod>;
  /** As it is now, undefined if it has none such. */
  container(id: string): ObservedContainer | undefined;
  /** Of one that is known it learns the name, which may have become another. */
  addContainer(container: Pick<ObservedContainer, "id" | "name" | "isInfra">): void;
  /** Does nothing if it was told already. */
  create(moment: Moment): void;
  /** Does nothing if it has one. */
  learnName(name: string): void;
  start(containerId: string, moment: Moment): void;
  exit(containerId: string, moment: Moment, exitCode: number | null): void;
  /** One that runs ends by it. */
  removeContainer(containerId: string, moment: Moment): void;
  hold(containerId: string, held: ObservedContainer["held"]): void;
  /** Everything that still runs has ended by it. */
  remove(moment: Moment): void;
  /** Tells that it has exited, if no app of it was started in time. */
  passTime(timeNs: bigint): void;
}

/** What happens to one pod, so that starts and exits alternate, of its apps and of itself. @param tell is told each fact, in order */
export function createPodLife(observed: ObservedPod, tell: (fact: PodFact) => void): PodLife {
  const pod: Draft<ObservedPod> = {
    ...observed,
    containers: observed.containers.map((each) => ({ ...each })),
  };
  const containers = new Map<string, Draft<ObservedContainer>>(pod.containers.map((each) => [each.id, each]));

  function tellPod(type: PodFact["type"], { timeNs, isReconciled }: Moment): void {
    tell({ type, timeNs, isReconciled, uuid: pod.uuid, name: pod.name });
  }

  function tellContainer(
    type: PodFact["type"],
    { id, name }: ObservedContainer,
    moment: Moment,
    exitCode: number | null,
  ) {
    const { timeNs, isReconciled } = moment;
    const ended = exitCode === null ? {} : { exitCode };
    tell({ type, timeNs, isReconciled, uuid: pod.uuid, name: pod.name, container: { id, name }, ...ended });
  }

  const isUp = (isInfra: boolean) =>
    [...containers.values()].some((each) => each.isRunning && each.isInfra === isInfra);

  function endPod(moment: Moment): void {
    if (pod.isStarted) {
      tellPod("pod.exited", moment);
    }
    pod.isStarted = false;
    pod.pendingExitNs = null;
  }

  function create(moment: Moment): void {
    if (!pod.isCreated) {
      pod.isCreated = true;
      tellPod("pod.created", moment);
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
      tellContainer("container.exited", container, moment, exitCode);
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
        tellPod("pod.started", moment);
      }
      container.isRunning = true;
      container.changedAtNs = moment.timeNs;
      container.held = null;
      if (!container.isInfra) {
        tellContainer("container.started", container, moment, null);
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
      // The programs before what holds them together.
      for (const { id } of [...containers.values()].toSorted(
        (a, b) => Number(a.isInfra) - Number(b.isInfra),
      )) {
        exit(id, { ...moment, isReconciled: !isSeen }, null);
      }
      endPod({ timeNs: pod.pendingExitNs ?? moment.timeNs, isReconciled: !isSeen });
      tellPod("pod.removed", moment);
    },
    passTime,
  };
}
