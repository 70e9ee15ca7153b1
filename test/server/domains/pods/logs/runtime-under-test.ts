import { EventEmitter, once } from "node:events";
import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import type { LogOptions, LogPiece, PodRuntime } from "../../../../../adapters/podman/adapter.ts";
import { podmanReasons } from "../../../../../adapters/podman/reasons.ts";
import type {
  ContainerState,
  PodContainer,
  RuntimePod,
} from "../../../../../adapters/podman/runtime-state.ts";

/** A runtime with one pod whose output is controlled by the test. */
export interface RuntimeUnderTest extends Pick<PodRuntime, "read" | "subscribe" | "logs"> {
  /** Creates or changes an app. */
  setApp(name: string, state: ContainerState): void;
  /** Removes an app from the pod. */
  removeApp(name: string): void;
  removePod(): void;
  setOutage(error: InfraError | undefined): void;
  /** Prints pieces of output that arrive together. */
  print(name: string, ...pieces: readonly Partial<LogPiece & { text: string }>[]): void;
  /** Number of an app's batches that were read. */
  takenOf(name: string): number;
  /** Number of open logs, and of subscribers to changes. */
  readers(): number;
  subscribers(): number;
}

export const podUuid = "0a0b0c0d-0000-4000-8000-00000000000f";

const idOf = (name: string) => Buffer.from(name).toString("hex").padEnd(64, "0");

export function createRuntimeUnderTest(): RuntimeUnderTest {
  const emitter = new EventEmitter().setMaxListeners(0);
  const apps = new Map<string, PodContainer>();
  const printed = new Map<string, LogPiece[][]>();
  const taken = new Map<string, number>();
  let hasPod = true;
  let outage: InfraError | undefined;
  let readers = 0;

  function batchesOf(name: string): LogPiece[][] {
    const batches = printed.get(name) ?? [];
    printed.set(name, batches);
    return batches;
  }

  const change = () => emitter.emit("change");

  async function* logs(
    containerId: string,
    { follow = false }: LogOptions,
    signal: AbortSignal,
  ): AsyncGenerator<readonly LogPiece[], void> {
    const name = [...apps.values()].find(({ id }) => id === containerId)?.name;
    if (name === undefined) {
      throw new InfraError(podmanReasons.CONTAINER_NOT_FOUND, "no such container");
    }
    if (name.startsWith("silent")) {
      throw new InfraError(podmanReasons.LOGS_UNAVAILABLE, "this container is not logging output");
    }
    readers += 1;
    try {
      const batches = batchesOf(name);
      const earlier = batches.length;
      for (let at = 0; ; at += 1) {
        if (at === earlier && follow) {
          yield [];
        }
        while (at >= batches.length) {
          if (!follow || !apps.has(name) || signal.aborted) {
            return;
          }
          await once(emitter, "change", { signal }).catch(() => {});
        }
        taken.set(name, (taken.get(name) ?? 0) + 1);
        yield batches[at] ?? [];
      }
    } finally {
      readers -= 1;
    }
  }

  return {
    async read() {
      if (outage !== undefined) {
        throw outage;
      }
      const pods = hasPod ? [podOf([...apps.values()])] : [];
      return { value: { pods, unreadable: [], images: [] }, revision: 0, readAtMs: performance.now() };
    },
    subscribe(onChange) {
      emitter.on("change", onChange);
      emitter.on("subscriber", onChange);
      return () => {
        emitter.off("change", onChange);
        emitter.off("subscriber", onChange);
      };
    },
    logs,
    setApp(name, state) {
      apps.set(name, containerOf(name, state));
      change();
    },
    removeApp(name) {
      apps.delete(name);
      change();
    },
    removePod() {
      hasPod = false;
      apps.clear();
      change();
    },
    setOutage(error) {
      outage = error;
      change();
    },
    print(name, ...pieces) {
      batchesOf(name).push(pieces.map(pieceOf));
      change();
    },
    takenOf: (name) => taken.get(name) ?? 0,
    readers: () => readers,
    subscribers: () => emitter.listenerCount("subscriber"),
  };
}

function pieceOf({
  text = "",
  stream = "stdout",
  timeNs = 0n,
  endsLine = true,
}: Partial<LogPiece & { text: string }>) {
  return { stream, timeNs, bytes: Buffer.from(text), endsLine };
}

function containerOf(name: string, state: ContainerState): PodContainer {
  return {
    id: idOf(name),
    name,
    isInfra: false,
    state,
    image: { id: "", name: "" },
    exitCode: undefined,
    pid: undefined,
    createdAtNs: 0n,
    startedAtNs: undefined,
    exitedAtNs: undefined,
    annotations: new Map(),
  };
}

function podOf(containers: readonly PodContainer[]): RuntimePod {
  return {
    id: podUuid.replaceAll("-", "").padEnd(64, "0"),
    uuid: podUuid,
    name: "web",
    phase: "running",
    createdAtNs: 0n,
    startedAtNs: undefined,
    labels: new Map(),
    cgroup: undefined,
    networks: [],
    containers,
    document: "{}",
  };
}
