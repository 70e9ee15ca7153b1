import type { RuntimeEvent } from "../adapter.ts";
import { uuidFromPodId } from "../parse/parse-pod.ts";
import type { RuntimeImage } from "../runtime-state.ts";

type ContainerKind = "containerCreated" | "containerStarted" | "containerExited" | "containerRemoved";

interface ToldContainer {
  readonly id: string;
  readonly podId: string;
  readonly name: string;
  readonly isInfra: boolean;
  readonly exitCode: number | undefined;
}

/** Creates the events of a sandbox. */
export interface SandboxTeller {
  /** Returns the time; each call returns a later one. */
  nowNs(): bigint;
  tellContainer(kind: ContainerKind, container: ToldContainer, podName: string): void;
  tellPod(kind: "podCreated" | "podRemoved", pod: { readonly id: string; readonly name: string }): void;
  tellImage(kind: "imageAdded" | "imageRemoved", image: RuntimeImage): void;
}

export function createSandboxTeller(tell: (event: RuntimeEvent) => void): SandboxTeller {
  let lastNs = 0n;

  function nowNs(): bigint {
    const now = BigInt(Date.now()) * 1_000_000n;
    lastNs = now > lastNs ? now : lastNs + 1n;
    return lastNs;
  }

  return {
    nowNs,
    tellContainer(kind, { id: containerId, podId, name: containerName, isInfra, exitCode }, podName) {
      const timeNs = nowNs();
      const facts = { timeNs, key: `${timeNs}:${kind}:${containerId}`, podId, podUuid: uuidFromPodId(podId) };
      const ended = kind === "containerExited" && exitCode !== undefined ? { exitCode } : {};
      tell({ kind, ...facts, podName, containerId, containerName, isInfra, ...ended });
    },
    tellPod(kind, { id: podId, name: podName }) {
      const timeNs = nowNs();
      tell({
        kind,
        timeNs,
        key: `${timeNs}:${kind}:${podId}`,
        podId,
        podUuid: uuidFromPodId(podId),
        podName,
      });
    },
    tellImage(kind, { id: imageId, names: imageNames }) {
      const timeNs = nowNs();
      tell({ kind, timeNs, key: `${timeNs}:${kind}:${imageId}`, imageId, imageNames });
    },
  };
}
