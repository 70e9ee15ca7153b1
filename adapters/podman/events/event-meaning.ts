import type { RuntimeEvent } from "../adapter.ts";
import type { ContainerRow } from "../parse/parse-container.ts";
import type { EventRecord } from "../parse/parse-event.ts";
import { type PodRow, uuidFromPodId } from "../parse/parse-pod.ts";

/** Interpretation of a record, as far as it is known. */
export interface EventMeaning {
  /** Undefined for a record that the port does not report. */
  readonly event: RuntimeEvent | undefined;
  /** The pod that the record concerns. */
  readonly podId: string | undefined;
  /** Whether it is about an unknown container, whose pod is then unknown too. */
  readonly isUnknown: boolean;
}

export interface EventInterpreter {
  /**
   * Learns pods and containers from full lists. Those on no list are forgotten after a while, since records may still
   * name them.
   */
  learn(pods: readonly PodRow[], containers: readonly ContainerRow[]): void;
  /** Learns from a batch of records before the first of them is interpreted. */
  preview(records: readonly EventRecord[]): void;
  /** Interprets a record. Call once for each record, in order. */
  read(record: EventRecord): EventMeaning;
  /** Returns an independent interpreter with the same knowledge. */
  copy(): EventInterpreter;
}

interface KnownContainer {
  /** Empty for a container without a pod. */
  readonly podId: string;
  readonly name: string;
  readonly isInfra: boolean;
}

const containerKinds = {
  create: "containerCreated",
  start: "containerStarted",
  died: "containerExited",
  remove: "containerRemoved",
} as const;
const podKinds = { create: "podCreated", remove: "podRemoved" } as const;

// Records are not always in the order of their times, so a removed object may be named once more. An object created
// while a list was read is not on it.
const maxRemoved = 4096;

/** Interprets Podman's records. It keeps track of pods and containers, since records leave out much. */
export function createEventInterpreter(
  pods = new Map<string, string>(),
  containers = new Map<string, KnownContainer>(),
): EventInterpreter {
  const removed = new Set<string>();

  function forgetLater(id: string): void {
    removed.add(id);
    const [oldest] = removed;
    if (removed.size > maxRemoved && oldest !== undefined) {
      removed.delete(oldest);
      pods.delete(oldest);
      containers.delete(oldest);
    }
  }

  /** Podman 4.3.1 leaves `podId` empty in `died`, and no record shows which container is the infra container. */
  function containerOf({ id, name, podId, action }: EventRecord): KnownContainer | undefined {
    const known = containers.get(id);
    if (known !== undefined) {
      return known;
    }
    if (podId === "" && action === "died") {
      return undefined;
    }
    // The infra container is created before its pod: `container create` of `467d11b658b9-infra`, then `pod create`.
    const isBeforePod = action === "create" && podId !== "" && !pods.has(podId);
    return learnContainer(id, { podId, name, isInfra: isBeforePod || isInfraName(name, podId) });
  }

  function learnContainer(id: string, container: KnownContainer): KnownContainer {
    containers.set(id, container);
    return container;
  }

  function readContainer(record: EventRecord): EventMeaning {
    const container = containerOf(record);
    if (record.action === "remove") {
      forgetLater(record.id);
    }
    if (container === undefined || container.podId === "") {
      return { event: undefined, podId: undefined, isUnknown: container === undefined };
    }
    const { podId, isInfra } = container;
    const kind = containerKinds[record.action as keyof typeof containerKinds];
    if (kind === undefined) {
      return { event: undefined, podId, isUnknown: false };
    }
    const { timeNs, key, id: containerId, name: containerName, exitCode } = record;
    const event = {
      kind,
      timeNs,
      key,
      podId,
      podUuid: uuidFromPodId(podId),
      podName: pods.get(podId) ?? "",
      containerId,
      containerName,
      isInfra,
      // Other records have an exit code of 0, which is meaningless.
      ...(kind === "containerExited" && exitCode !== undefined && { exitCode }),
    };
    return { event, podId, isUnknown: false };
  }

  function readPod({ action, id: podId, name, timeNs, key }: EventRecord): EventMeaning {
    pods.set(podId, name);
    const kind = podKinds[action as keyof typeof podKinds];
    if (kind === "podRemoved") {
      forgetLater(podId);
    }
    const event: RuntimeEvent | undefined =
      kind === undefined
        ? undefined
        : { kind, timeNs, key, podId, podUuid: uuidFromPodId(podId), podName: name };
    return { event, podId, isUnknown: false };
  }

  return {
    learn(podRows, containerRows) {
      const listed = new Set([...podRows, ...containerRows].map(({ Id }) => Id));
      for (const id of listed) {
        removed.delete(id);
      }
      for (const { Id, Name } of podRows) {
        pods.set(Id, Name);
      }
      for (const { Id, Pod, IsInfra, Names } of containerRows) {
        containers.set(Id, { podId: Pod, name: Names[0] ?? "", isInfra: IsInfra });
      }
      for (const id of [...pods.keys(), ...containers.keys()].filter((each) => !listed.has(each))) {
        forgetLater(id);
      }
    },
    // For a container created before the first record, `start`, `cleanup` and `remove` name the pod, but `died` does
    // not.
    preview(records) {
      const podCreations = new Map<string, number>();
      for (const [index, { type, action, id, name }] of records.entries()) {
        if (type === "pod") {
          pods.set(id, name);
        }
        if (type === "pod" && action === "create") {
          podCreations.set(id, index);
        }
      }
      for (const [index, { type, action, id, name, podId }] of records.entries()) {
        if (type === "container" && action !== "died" && !containers.has(id)) {
          const isBeforePod = action === "create" && (podCreations.get(podId) ?? -1) > index;
          learnContainer(id, { podId, name, isInfra: isBeforePod || isInfraName(name, podId) });
        }
      }
    },
    read(record) {
      switch (record.type) {
        case "container":
          return readContainer(record);
        case "pod":
          return readPod(record);
        default:
          return { event: undefined, podId: undefined, isUnknown: false };
      }
    },
    copy: () => createEventInterpreter(new Map(pods), new Map(containers)),
  };
}

/** Reports whether this is Podman's default name for an infra container: `467d11b658b9-infra`, after the pod. */
function isInfraName(name: string, podId: string): boolean {
  return name === `${podId.slice(0, 12)}-infra`;
}
