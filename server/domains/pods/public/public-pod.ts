import { create } from "@bufbuild/protobuf";
import type {
  ContainerState,
  PodContainer,
  PodPhase,
  RuntimePod,
} from "../../../../adapters/podman/runtime-state.ts";
import {
  type App,
  AppSchema,
  AppState,
  NetworkSchema,
  type Pod,
  PodSchema,
  PodState,
} from "../../../../gen/v1alpha/api_pb.ts";
import { keyValues } from "./key-values.ts";
import { type KnownImages, publicImageOfApp } from "./public-image.ts";

const stateOfPhase: Readonly<Record<PodPhase, PodState>> = {
  created: PodState.PREPARED,
  running: PodState.RUNNING,
  exited: PodState.EXITED,
  unknown: PodState.UNDEFINED,
};

const stateOfContainer: Readonly<Record<ContainerState, AppState>> = {
  created: AppState.UNDEFINED,
  running: AppState.RUNNING,
  paused: AppState.RUNNING,
  stopping: AppState.RUNNING,
  exited: AppState.EXITED,
  unknown: AppState.UNDEFINED,
};

/**
 * Converts a pod to the format of v1alpha.PublicAPI, with its apps and without its manifest. The source of each field is
 * listed in docs/reference/domains/pods.md.
 * @param images existing images, for the format of the apps' images
 */
export function publicPod(pod: RuntimePod, images: KnownImages): Pod {
  const apps = pod.containers.filter(({ isInfra }) => !isInfra);
  const infra = pod.containers.find(({ isInfra }) => isInfra);
  const isRunning = pod.phase === "running";
  return create(PodSchema, {
    id: pod.uuid,
    pid: infra?.pid ?? apps.find(({ pid }) => pid !== undefined)?.pid ?? -1,
    state: stateOfPhase[pod.phase],
    apps: apps.map((app) => publicApp(app, images)),
    networks: isRunning ? pod.networks.map((network) => create(NetworkSchema, network)) : [],
    annotations: keyValues(pod.labels),
    cgroup: isRunning ? rootedPath(pod.cgroup ?? "") : "",
    createdAt: pod.createdAtNs,
    startedAt: pod.startedAtNs ?? 0n,
  });
}

function publicApp(container: PodContainer, images: KnownImages): App {
  return create(AppSchema, {
    name: container.name,
    image: publicImageOfApp(container.image, images),
    state: stateOfContainer[container.state],
    exitCode: container.exitCode ?? 0,
    annotations: keyValues(container.annotations),
  });
}

/** With systemd, Podman omits the leading slash: `machine.slice/machine-libpod_pod_….slice`. */
function rootedPath(path: string): string {
  return path === "" || path.startsWith("/") ? path : `/${path}`;
}
