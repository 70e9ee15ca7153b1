import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ContainerState,
  PodPhase,
  PodContainer as RuntimeContainer,
  RuntimeImage,
  RuntimePod,
  RuntimeState,
} from "../../../adapters/podman/runtime-state.ts";
import {
  type PodContainerSchema,
  PodContainerState,
  type PodImageSchema,
  type PodSchema,
  PodState,
} from "../../../gen/hostplane/v1/pod_pb.ts";
import { timestampFromNs } from "./public/timestamp-from-ns.ts";

const stateOfPhase: Readonly<Record<PodPhase, PodState>> = {
  created: PodState.CREATED,
  running: PodState.RUNNING,
  exited: PodState.EXITED,
  unknown: PodState.UNSPECIFIED,
};

const stateOfContainer: Readonly<Record<ContainerState, PodContainerState>> = {
  created: PodContainerState.CREATED,
  running: PodContainerState.RUNNING,
  paused: PodContainerState.PAUSED,
  stopping: PodContainerState.STOPPING,
  exited: PodContainerState.EXITED,
  unknown: PodContainerState.UNSPECIFIED,
};

/** Fields shared by ListPods and WatchPods. */
export interface PodMessages {
  readonly pods: MessageInitShape<typeof PodSchema>[];
  readonly unreadable: { readonly id: string; readonly reason: string }[];
}

/** Converts all pods to messages of hostplane.v1.PodService, ordered by id. */
export function podMessages({ pods, unreadable }: Pick<RuntimeState, "pods" | "unreadable">): PodMessages {
  return {
    pods: pods.map(podMessage),
    unreadable: unreadable
      .map(({ podUuid, why }) => ({ id: podUuid, reason: why }))
      .sort((a, b) => (a.id < b.id ? -1 : 1)),
  };
}

function podMessage(pod: RuntimePod): MessageInitShape<typeof PodSchema> {
  return {
    id: pod.uuid,
    name: pod.name,
    state: stateOfPhase[pod.phase],
    createdAt: timestampFromNs(pod.createdAtNs),
    ...(pod.startedAtNs === undefined ? {} : { startedAt: timestampFromNs(pod.startedAtNs) }),
    containers: pod.containers.filter(({ isInfra }) => !isInfra).map(containerMessage),
    networks: pod.networks.map((network) => ({ ...network })),
    labels: Object.fromEntries(pod.labels),
  };
}

function containerMessage(container: RuntimeContainer): MessageInitShape<typeof PodContainerSchema> {
  const { id, name, state, image, exitCode, startedAtNs, exitedAtNs } = container;
  return {
    id,
    name,
    state: stateOfContainer[state],
    imageId: image.id,
    imageName: image.name,
    ...(exitCode === undefined ? {} : { exitCode }),
    ...(startedAtNs === undefined ? {} : { startedAt: timestampFromNs(startedAtNs) }),
    ...(exitedAtNs === undefined ? {} : { exitedAt: timestampFromNs(exitedAtNs) }),
  };
}

/**
 * Converts all images to messages of hostplane.v1.PodService, ordered by id.
 * @param importedAtNs returns when an image was imported, nanoseconds since 1970; undefined if the import was not observed
 */
export function imageMessages(
  { pods, images }: Pick<RuntimeState, "pods" | "images">,
  importedAtNs: (imageId: string) => bigint | undefined,
): MessageInitShape<typeof PodImageSchema>[] {
  const users = Map.groupBy(
    pods.flatMap(({ containers }) => containers),
    ({ image }) => image.id,
  );
  return images.map(({ id, names, sizeBytes, createdAtNs }: RuntimeImage) => {
    const importedAt = importedAtNs(id);
    return {
      id,
      names: [...names],
      sizeBytes,
      builtAt: timestampFromNs(createdAtNs),
      ...(importedAt === undefined ? {} : { importedAt: timestampFromNs(importedAt) }),
      containerCount: users.get(id)?.length ?? 0,
    };
  });
}
