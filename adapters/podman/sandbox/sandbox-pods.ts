import { createHash } from "node:crypto";
import { InfraError } from "../../host/infra-error.ts";
import type { Clock } from "../../sandbox/clock.ts";
import type { ImageUser, RuntimeEvent } from "../adapter.ts";
import { podmanReasons } from "../reasons.ts";
import type { RuntimeState } from "../runtime-state.ts";
import { createSandboxEmitter } from "./sandbox-emitter.ts";
import { createSandboxImages } from "./sandbox-images.ts";
import type { SandboxPodOptions, SandboxProgram } from "./sandbox-program.ts";
import {
  inOrder,
  isUp,
  podFrom,
  type SandboxContainer,
  type SandboxPod,
  unreadableFrom,
} from "./sandbox-view.ts";

/** The pods and images of a sandbox. Each change either emits an event or calls `onQuiet`. */
export interface SandboxPods {
  state(): RuntimeState;
  /** Returns the time; each call returns a later one. */
  nowNs(): bigint;
  container(id: string): SandboxContainer | undefined;
  /** @throws InfraError IMAGE_NOT_FOUND */
  createPod(options: SandboxPodOptions): string;
  /** Starts the containers that can be started. @throws InfraError POD_NOT_FOUND, POD_START_FAILED if some could not */
  startPod(id: string): void;
  /**
   * Ends running and paused containers with this exit code. @throws InfraError POD_NOT_FOUND, POD_STATE (none is up)
   */
  endPod(id: string, exitCode: number): void;
  /** @throws InfraError POD_NOT_FOUND, POD_STATE (it is running) */
  removePod(id: string, force: boolean): void;
  /** Makes the pod unreadable for this reason, like one that is partially removed. */
  breakPod(id: string, why: string): void;
  /** Adds a container outside pods and returns its id. @throws InfraError IMAGE_NOT_FOUND */
  addContainer(name: string, image: string): string;
  pauseContainer(id: string): void;
  startContainer(id: string): void;
  endContainer(id: string, exitCode: number): void;
  /** Returns the id of the image with this name, which is created if necessary. */
  addImage(name: string): string;
  imageUsers(id: string): readonly ImageUser[];
  /** @throws InfraError IMAGE_NOT_FOUND, IMAGE_IN_USE */
  removeImage(id: string, force: boolean): void;
  close(): void;
}

export const pauseImage = "localhost/sandbox-pause:1";

export interface SandboxPodsOptions {
  /** Called with each event, after the change has been made. */
  readonly emit: (event: RuntimeEvent) => void;
  /** Called after a change that emits no event. */
  readonly onQuiet: () => void;
  readonly clock: Clock;
}

/** Starts without pods and images. */
export function createSandboxPods({ emit, onQuiet, clock }: SandboxPodsOptions): SandboxPods {
  const pods = new Map<string, SandboxPod>();
  const emitter = createSandboxEmitter(emit, clock);
  const { nowNs, emitContainer, emitPod } = emitter;
  const images = createSandboxImages(emitter, nextId, containers);
  let createdCount = 0;

  /** Returns the next id; sandboxes created in the same way have the same ids. */
  function nextId(what: string): string {
    createdCount += 1;
    return createHash("sha256").update(`${what} ${createdCount}`).digest("hex");
  }

  function podOf(id: string): SandboxPod {
    const pod = pods.get(id);
    if (pod === undefined) {
      throw new InfraError(podmanReasons.POD_NOT_FOUND, `no pod with id ${id}`);
    }
    return pod;
  }

  function containers(): readonly SandboxContainer[] {
    return [...pods.values()].flatMap((pod) => pod.containers);
  }

  function container(id: string): SandboxContainer | undefined {
    return containers().find((each) => each.id === id);
  }

  function withContainer(id: string, change: (each: SandboxContainer) => unknown): void {
    const each = container(id);
    if (each !== undefined) {
      change(each);
    }
  }

  function nameOf({ podId }: SandboxContainer): string {
    return pods.get(podId)?.name ?? "";
  }

  function addContainer(
    pod: SandboxPod,
    name: string,
    image: string,
    program: SandboxProgram | "infra",
  ): void {
    const found = images.byName(image);
    const each: SandboxContainer = {
      id: nextId("container"),
      podId: pod.id,
      name,
      isInfra: program === "infra",
      // The infra container prints nothing.
      program: program === "infra" ? { kind: "missing" } : program,
      image: { id: found.id, name: image },
      createdAtNs: nowNs(),
      state: "created",
      exitCode: undefined,
      runs: [],
      cancelExit: undefined,
    };
    pod.containers.push(each);
    emitContainer("containerCreated", each, pod.name);
  }

  /** Starts a container; returns false if it cannot be started. */
  function start(each: SandboxContainer): boolean {
    const { program, isInfra } = each;
    if (program.kind === "missing" && !isInfra) {
      return false;
    }
    if (each.state === "running") {
      return true;
    }
    each.state = "running";
    each.exitCode = undefined;
    each.runs = [...each.runs, { startedAtNs: nowNs(), endedAtNs: undefined }];
    emitContainer("containerStarted", each, nameOf(each));
    if (program.kind === "exit") {
      each.cancelExit = clock.setTimer(program.afterMs, () => end(each, program.code));
    }
    return true;
  }

  function end(each: SandboxContainer, exitCode: number): void {
    const run = each.runs.at(-1);
    if (!isUp(each) || run === undefined) {
      return;
    }
    each.cancelExit?.();
    each.state = "exited";
    each.exitCode = exitCode;
    each.runs = [...each.runs.slice(0, -1), { ...run, endedAtNs: nowNs() }];
    emitContainer("containerExited", each, nameOf(each));
  }

  function removeContainer(pod: SandboxPod, each: SandboxContainer): void {
    end(each, 137);
    pod.containers.splice(pod.containers.indexOf(each), 1);
    emitContainer("containerRemoved", each, pod.name);
  }

  function remove(pod: SandboxPod): void {
    // Apps first; the infra container keeps their namespaces open.
    for (const each of pod.containers.toReversed()) {
      removeContainer(pod, each);
    }
    pods.delete(pod.id);
    emitPod("podRemoved", pod);
  }

  return {
    nowNs,
    container,
    state: () => ({
      pods: inOrder([...pods.values()].filter(({ brokenWhy }) => brokenWhy === undefined).map(podFrom)),
      unreadable: [...pods.values()].flatMap(unreadableFrom),
      images: inOrder(images.all()),
    }),
    createPod({ name, labels = {}, containers }) {
      const words = new Map(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
      const address = `10.88.0.${(createdCount % 250) + 2}`;
      const facts = { name, labels: words, address, containers: [], brokenWhy: undefined };
      const pod: SandboxPod = { id: nextId("pod"), createdAtNs: nowNs(), ...facts };
      pods.set(pod.id, pod);
      addContainer(pod, `${pod.id.slice(0, 12)}-infra`, pauseImage, "infra");
      emitPod("podCreated", pod);
      for (const each of containers) {
        addContainer(pod, each.name, each.image, each.program);
      }
      return pod.id;
    },
    startPod(id) {
      const failures = podOf(id).containers.filter((each) => !start(each));
      if (failures.length > 0) {
        const names = failures.map(({ name }) => name).join(", ");
        throw new InfraError(podmanReasons.POD_START_FAILED, `the program of ${names} does not exist`);
      }
    },
    endPod(id, exitCode) {
      const running = podOf(id).containers.filter(isUp);
      if (running.length === 0) {
        throw new InfraError(podmanReasons.POD_STATE, `pod ${id} has no running containers`);
      }
      for (const each of running.toReversed()) {
        end(each, exitCode);
      }
    },
    removePod(id, force) {
      const pod = podOf(id);
      if (!force && pod.brokenWhy !== undefined) {
        throw new InfraError(podmanReasons.PODMAN_FAILED, pod.brokenWhy);
      }
      if (!force && pod.containers.some(isUp)) {
        throw new InfraError(podmanReasons.POD_STATE, `pod ${id} is running`);
      }
      remove(pod);
    },
    breakPod(id, why) {
      podOf(id).brokenWhy = why;
      onQuiet();
    },
    addContainer: images.addContainer,
    pauseContainer(id) {
      withContainer(id, (each) => {
        each.state = "paused";
      });
      onQuiet();
    },
    startContainer: (id) => withContainer(id, start),
    endContainer: (id, exitCode) => withContainer(id, (each) => end(each, exitCode)),
    addImage: images.add,
    imageUsers: images.users,
    removeImage(id, force) {
      const image = images.byId(id);
      const [user] = images.users(id);
      if (user !== undefined && !force) {
        throw new InfraError(podmanReasons.IMAGE_IN_USE, `The container ${user.name} uses the image`);
      }
      for (const pod of [...pods.values()]) {
        const users = pod.containers.filter((each) => each.image.id === id);
        if (users.some(({ isInfra }) => isInfra)) {
          remove(pod);
          continue;
        }
        for (const each of users) {
          removeContainer(pod, each);
        }
      }
      images.remove(image);
    },
    close() {
      for (const { cancelExit } of containers()) {
        cancelExit?.();
      }
    },
  };
}
