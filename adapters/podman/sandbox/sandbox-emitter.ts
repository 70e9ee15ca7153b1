import type { Clock } from "../../sandbox/clock.ts";
import type { RuntimeEvent } from "../adapter.ts";
import { uuidFromPodId } from "../parse/parse-pod.ts";
import type { RuntimeImage } from "../runtime-state.ts";

type ContainerKind = "containerCreated" | "containerStarted" | "containerExited" | "containerRemoved";

interface EmittedContainer {
  readonly id: string;
  readonly podId: string;
  readonly name: string;
  readonly isInfra: boolean;
  readonly exitCode: number | undefined;
}

/** Creates the events of a sandbox. */
export interface SandboxEmitter {
  /** Returns the time; each call returns a later one. */
  nowNs(): bigint;
  emitContainer(kind: ContainerKind, container: EmittedContainer, podName: string): void;
  emitPod(kind: "podCreated" | "podRemoved", pod: { readonly id: string; readonly name: string }): void;
  emitImage(kind: "imageAdded" | "imageRemoved", image: RuntimeImage): void;
}

/** @param emit receives each event @param clock times of the same millisecond are 1 ns apart */
export function createSandboxEmitter(emit: (event: RuntimeEvent) => void, clock: Clock): SandboxEmitter {
  let lastNs = 0n;

  function nowNs(): bigint {
    const now = BigInt(clock.nowMs()) * 1_000_000n;
    lastNs = now > lastNs ? now : lastNs + 1n;
    return lastNs;
  }

  return {
    nowNs,
    emitContainer(kind, { id: containerId, podId, name: containerName, isInfra, exitCode }, podName) {
      const timeNs = nowNs();
      const facts = { timeNs, key: `${timeNs}:${kind}:${containerId}`, podId, podUuid: uuidFromPodId(podId) };
      const ended = kind === "containerExited" && exitCode !== undefined ? { exitCode } : {};
      emit({ kind, ...facts, podName, containerId, containerName, isInfra, ...ended });
    },
    emitPod(kind, { id: podId, name: podName }) {
      const timeNs = nowNs();
      emit({
        kind,
        timeNs,
        key: `${timeNs}:${kind}:${podId}`,
        podId,
        podUuid: uuidFromPodId(podId),
        podName,
      });
    },
    emitImage(kind, { id: imageId, names: imageNames }) {
      const timeNs = nowNs();
      emit({ kind, timeNs, key: `${timeNs}:${kind}:${imageId}`, imageId, imageNames });
    },
  };
}
