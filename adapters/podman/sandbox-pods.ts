import { createHash } from "node:crypto";
import { InfraError } from "../host/infra-error.ts";
import type { RuntimeEvent } from "./adapter.ts";
import type { RuntimeImage, RuntimeState } from "./runtime-state.ts";
import type { SandboxProgram } from "./sandbox-program.ts";
import { createSandboxTeller } from "./sandbox-teller.ts";
import { imageOf, inOrder, podFrom, type SandboxContainer, type SandboxPod } from "./sandbox-view.ts";

export interface SandboxPodOptions {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly containers: readonly {
    readonly name: string;
    /** Of an image that is there. */
    readonly image: string;
    readonly program: SandboxProgram;
  }[];
}

/** The pods and images of a sandbox. Whatever changes tells an event. */
export interface SandboxPods {
  state(): RuntimeState;
  /** The time, later than each that was told before. */
  nowNs(): bigint;
  container(id: string): SandboxContainer | undefined;
  /** @throws InfraError IMAGE_NOT_FOUND */
  createPod(options: SandboxPodOptions): string;
  /** @throws InfraError POD_NOT_FOUND, POD_START_FAILED, after those that can be started were */
  startPod(id: string): void;
  /** Ends what runs with this code. @throws InfraError POD_NOT_FOUND, POD_STATE (nothing runs) */
  endPod(id: string, exitCode: number): void;
  /** @throws InfraError POD_NOT_FOUND, POD_STATE (it runs) */
  removePod(id: string, force: boolean): void;
  startContainer(id: string): void;
  endContainer(id: string, exitCode: number): void;
  /** The id of the image of this name, which is made if there is none. */
  addImage(name: string): string;
  /** @throws InfraError IMAGE_NOT_FOUND, IMAGE_IN_USE */
  removeImage(id: string, force: boolean): void;
  close(): void;
}

export const pauseImage = "localhost/sandbox-pause:1";

/** @param tell is told each event, after what it tells of has happened */
export function createSandboxPods(tell: (event: RuntimeEvent) => void): SandboxPods {
  const pods = new Map<string, SandboxPod>();
  const images = new Map<string, RuntimeImage>();
  const { nowNs, tellContainer, tellPod, tellImage } = createSandboxTeller(tell);
  let made = 0;

  /** The same ids in each sandbox that is made in the same way. */
  function nextId(what: string): string {
    made += 1;
    return createHash("sha256").update(`${what} ${made}`).digest("hex");
  }

  function podOf(id: string): SandboxPod {
    const pod = pods.get(id);
    if (pod === undefined) {
      throw new InfraError("POD_NOT_FOUND", `no pod with id ${id}`);
    }
    return pod;
  }

  function container(id: string): SandboxContainer | undefined {
    return [...pods.values()].flatMap(({ containers }) => containers).find((each) => each.id === id);
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
    const found = [...images.values()].find(({ names }) => names.includes(image));
    if (found === undefined) {
      throw new InfraError("IMAGE_NOT_FOUND", `no image of the name ${image}`);
    }
    const each: SandboxContainer = {
      id: nextId("container"),
      podId: pod.id,
      name,
      isInfra: program === "infra",
      // What it prints is nobody's business, and nothing.
      program: program === "infra" ? { kind: "missing" } : program,
      image: { id: found.id, name: image },
      createdAtNs: nowNs(),
      state: "created",
      exitCode: undefined,
      runs: [],
      timer: undefined,
    };
    pod.containers.push(each);
    tellContainer("containerCreated", each, pod.name);
  }

  /** Gives false when it cannot be started. */
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
    tellContainer("containerStarted", each, nameOf(each));
    if (program.kind === "exit") {
      each.timer = setTimeout(() => end(each, program.code), program.afterMs).unref();
    }
    return true;
  }

  function end(each: SandboxContainer, exitCode: number): void {
    const run = each.runs.at(-1);
    if (each.state !== "running" || run === undefined) {
      return;
    }
    clearTimeout(each.timer);
    each.state = "exited";
    each.exitCode = exitCode;
    each.runs = [...each.runs.slice(0, -1), { ...run, endedAtNs: nowNs() }];
    tellContainer("containerExited", each, nameOf(each));
  }

  function remove(pod: SandboxPod): void {
    // The programs before what holds their namespaces.
    for (const each of pod.containers.toReversed()) {
      end(each, 137);
      tellContainer("containerRemoved", each, pod.name);
    }
    pods.delete(pod.id);
    tellPod("podRemoved", pod);
  }

  return {
    nowNs,
    container,
    state: () => ({
      pods: inOrder([...pods.values()].map(podFrom)),
      unreadable: [],
      images: inOrder([...images.values()]),
    }),
    createPod({ name, labels = {}, containers }) {
      const words = new Map(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
      const address = `10.88.0.${(made % 250) + 2}`;
      const pod = { id: nextId("pod"), name, labels: words, createdAtNs: nowNs(), address, containers: [] };
      pods.set(pod.id, pod);
      addContainer(pod, `${pod.id.slice(0, 12)}-infra`, pauseImage, "infra");
      tellPod("podCreated", pod);
      for (const each of containers) {
        addContainer(pod, each.name, each.image, each.program);
      }
      return pod.id;
    },
    startPod(id) {
      const failures = podOf(id).containers.filter((each) => !start(each));
      if (failures.length > 0) {
        const names = failures.map(({ name }) => name).join(", ");
        throw new InfraError("POD_START_FAILED", `there is no such program for ${names}`);
      }
    },
    endPod(id, exitCode) {
      const running = podOf(id).containers.filter(({ state }) => state === "running");
      if (running.length === 0) {
        throw new InfraError("POD_STATE", `pod ${id} has no running containers`);
      }
      for (const each of running.toReversed()) {
        end(each, exitCode);
      }
    },
    removePod(id, force) {
      const pod = podOf(id);
      if (!force && pod.containers.some(({ state }) => state === "running")) {
        throw new InfraError("POD_STATE", `pod ${id} runs`);
      }
      remove(pod);
    },
    startContainer: (id) => withContainer(id, start),
    endContainer: (id, exitCode) => withContainer(id, (each) => end(each, exitCode)),
    addImage(name) {
      const known = [...images.values()].find(({ names }) => names.includes(name));
      if (known !== undefined) {
        return known.id;
      }
      const image = imageOf(nextId("image"), name, nowNs());
      images.set(image.id, image);
      tellImage("imageAdded", image);
      return image.id;
    },
    removeImage(id, force) {
      const image = images.get(id);
      if (image === undefined) {
        throw new InfraError("IMAGE_NOT_FOUND", `no image with id ${id}`);
      }
      const users = [...pods.values()].filter(({ containers }) =>
        containers.some((each) => each.image.id === id),
      );
      if (users.length > 0 && !force) {
        throw new InfraError("IMAGE_IN_USE", `pod ${users[0]?.name} uses the image`);
      }
      for (const pod of users) {
        remove(pod);
      }
      images.delete(id);
      tellImage("imageRemoved", image);
    },
    close() {
      for (const { timer } of [...pods.values()].flatMap(({ containers }) => containers)) {
        clearTimeout(timer);
      }
    },
  };
}
