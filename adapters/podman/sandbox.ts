import { InfraError } from "../host/infra-error.ts";
import { observeStep } from "../host/observe-step.ts";
import { createSnapshotCache } from "../host/snapshot.ts";
import { systemClock } from "../sandbox/clock.ts";
import type { SandboxOptions } from "../sandbox/sandbox-options.ts";
import { createStepFaults } from "../sandbox/step-faults.ts";
import type { PodRuntime, RuntimeEvent, RuntimeStep } from "./adapter.ts";
import { assertStep } from "./assert-step.ts";
import { commandOf } from "./commands.ts";
import { assertRuntimeId } from "./names.ts";
import { podmanReasons } from "./reasons.ts";
import { createSandboxJournal } from "./sandbox/sandbox-journal.ts";
import { readSandboxLogs } from "./sandbox/sandbox-logs.ts";
import { createSandboxPods, pauseImage, type SandboxPods } from "./sandbox/sandbox-pods.ts";
import type { SandboxPodOptions } from "./sandbox/sandbox-program.ts";
import { makeSandboxStep } from "./sandbox/sandbox-steps.ts";

export interface PodmanSandboxOptions extends SandboxOptions<RuntimeStep> {
  /** Initial content; `quietPods` by default. */
  readonly pods?: readonly (SandboxPodOptions & { readonly isStarted?: boolean })[];
  readonly images?: readonly string[];
  /**
   * Time after which an exited container is started again, in a pod with the label `sandbox.restart`; 20,000 by
   * default.
   */
  readonly restartMs?: number;
  /** Duration of a stop and of a pull; 200 ms by default. */
  readonly stopMs?: number;
  readonly pullMs?: number;
  /** Maximum number of events that wait for a reader, and that are kept for `history`; 10,000 by default. */
  readonly queueLimit?: number;
  readonly historyLimit?: number;
}

/** The sandbox, with changes from outside the gateway. */
export interface PodmanSandbox extends PodRuntime {
  /** Changes made outside the gateway. They still work while the runtime is unreachable. */
  readonly pods: SandboxPods;
  /**
   * Makes all reads and steps fail, as if the service were stopped, until called with undefined. Pods continue to run.
   */
  setOutage(error: InfraError | undefined): void;
  /** Discards all recorded events, as a rotation of the log does. */
  forgetHistory(): void;
}

export const sandboxImage = "localhost/sandbox/app:1";
const sandboxVersion = "0.0.0-sandbox";

/** Default content: a pod that runs, one whose container exits and restarts by itself, and one that is not started. */
export const quietPods: NonNullable<PodmanSandboxOptions["pods"]> = [
  {
    name: "sandbox-web",
    labels: { role: "web" },
    isStarted: true,
    containers: [
      { name: "sandbox-server", image: sandboxImage, program: { kind: "tick", everyMs: 1_000 } },
      { name: "sandbox-proxy", image: sandboxImage, program: { kind: "tick", everyMs: 5_000 } },
    ],
  },
  {
    name: "sandbox-job",
    labels: { role: "job", "sandbox.restart": "true" },
    isStarted: true,
    containers: [
      { name: "sandbox-worker", image: sandboxImage, program: { kind: "exit", code: 3, afterMs: 5_000 } },
    ],
  },
  {
    name: "sandbox-new",
    containers: [{ name: "sandbox-idle", image: sandboxImage, program: { kind: "tick", everyMs: 1_000 } }],
  },
];

/**
 * Pods in memory: the same rules and errors as the real ones. Nothing is random, and nothing on the host is touched.
 */
export function createPodmanSandbox(options: PodmanSandboxOptions = {}): PodmanSandbox {
  const { restartMs = 20_000, stopMs = 200, pullMs = 200 } = options;
  const { clock = systemClock, faults = createStepFaults() } = options;
  const { assertReachable } = faults;
  const { queueLimit = 10_000, historyLimit = 10_000 } = options;
  const closing = new AbortController();

  const cache = createSnapshotCache({
    system: "podman",
    retryMs: 100,
    load: async () => {
      assertReachable();
      return pods.state();
    },
  });
  const journal = createSandboxJournal({ queueLimit, historyLimit, onEvent: () => cache.invalidate() });
  const pods = createSandboxPods({ emit: note, onQuiet: () => cache.invalidate(), clock });
  seed();

  function seed(): void {
    for (const image of [pauseImage, sandboxImage, ...(options.images ?? [])]) {
      pods.addImage(image);
    }
    for (const { isStarted = false, ...pod } of options.pods ?? quietPods) {
      const id = pods.createPod(pod);
      if (isStarted) {
        pods.startPod(id);
      }
    }
  }

  function note(event: RuntimeEvent): void {
    journal.add(event);
    if (event.kind === "containerExited") {
      restartLater(event.podId, event.containerId);
    }
  }

  function restartLater(podId: string, containerId: string): void {
    // Deferred, since an event may be emitted in the middle of a change.
    clock.setTimer(restartMs, () => {
      const pod = pods.state().pods.find(({ id }) => id === podId);
      if (!closing.signal.aborted && pod?.labels.get("sandbox.restart") === "true") {
        const isUp = pod.containers.some(({ isInfra, state }) => isInfra && state === "running");
        if (isUp) {
          pods.startContainer(containerId);
        }
      }
    });
  }

  function findPod(podId: string) {
    const state = pods.state();
    const broken = state.unreadable.find((each) => each.podId === podId);
    if (broken !== undefined) {
      throw new InfraError(podmanReasons.PODMAN_FAILED, broken.why);
    }
    const pod = state.pods.find(({ id }) => id === podId);
    if (pod === undefined) {
      throw new InfraError(podmanReasons.POD_NOT_FOUND, `no pod with id ${podId}`);
    }
    return pod;
  }

  return {
    kind: "sandbox",
    pods,
    read: cache.read,
    subscribe: cache.subscribe,
    async *events({ after }, leaving) {
      if (after !== undefined) {
        assertReachable();
      }
      yield* journal.events(after, AbortSignal.any([leaving, closing.signal]));
    },
    async history({ sinceNs, untilNs }) {
      assertReachable();
      return journal.recorded().filter(({ timeNs }) => timeNs >= sinceNs && timeNs <= untilNs);
    },
    logs(containerId, logOptions, signal) {
      assertRuntimeId(containerId, "containerId");
      const source = { pods, onChange: journal.onChange, assertReachable, clock };
      return readSandboxLogs(source, containerId, logOptions, AbortSignal.any([signal, closing.signal]));
    },
    async inspectPod(podId) {
      assertRuntimeId(podId, "podId");
      assertReachable();
      return findPod(podId);
    },
    async inspectContainer(containerId) {
      assertRuntimeId(containerId, "containerId");
      assertReachable();
      const found = pods.container(containerId);
      if (found === undefined) {
        throw new InfraError(podmanReasons.CONTAINER_NOT_FOUND, `no container with id ${containerId}`);
      }
      return JSON.stringify({ Id: found.id, Name: found.name, State: { Status: found.state } });
    },
    async inspectImage(imageId) {
      assertRuntimeId(imageId, "imageId");
      assertReachable();
      const image = pods.state().images.find(({ id }) => id === imageId);
      if (image === undefined) {
        throw new InfraError(podmanReasons.IMAGE_NOT_FOUND, `no image with id ${imageId}`);
      }
      return image;
    },
    async imageUsers(imageId) {
      assertReachable();
      return pods.imageUsers(imageId);
    },
    commandOf,
    async run(step, runOptions = {}) {
      assertStep(step);
      assertReachable();
      faults.assertWorks(step);
      const tool = { program: "podman", subcommand: step.kind, argv: commandOf(step) };
      return observeStep(tool, () => makeSandboxStep({ pods, stopMs, pullMs, clock }, step, runOptions));
    },
    async info() {
      assertReachable();
      return {
        name: "sandbox",
        version: sandboxVersion,
        storeDirectory: "/sandbox/store",
        configDirectory: "/sandbox/config",
      };
    },
    async inspect() {
      const outage = faults.outage();
      return outage === undefined
        ? {
            version: sandboxVersion,
            findings: [
              { ok: true, what: "pods exist only in memory, run nothing, and disappear with the gateway" },
            ],
          }
        : {
            version: undefined,
            findings: [{ ok: false, what: outage.message, fix: "end the sandbox's outage" }],
          };
    },
    async close() {
      closing.abort();
      pods.close();
      cache.close();
    },
    setOutage(error) {
      faults.setOutage(error);
      cache.invalidate();
      journal.setHeld(error !== undefined);
    },
    forgetHistory: journal.forget,
  };
}
