import { oncePerObject } from "../../../../adapters/host/once-per-object.ts";
import type { PodRuntime } from "../../../../adapters/podman/adapter.ts";
import type {
  RuntimeImage,
  RuntimePod,
  RuntimeState,
  UnreadablePod,
} from "../../../../adapters/podman/runtime-state.ts";
import { bytes, count, type InventorySource, type Resource, time } from "../../../domain/inventory-source.ts";
import { imageResource, podResource } from "../events/own-changes.ts";
import { podResourceTypes } from "./resource-types.ts";

/** The pods and images of this host. */
export function createPodResources(runtime: Pick<PodRuntime, "read" | "subscribe">): InventorySource {
  const resourcesOf = oncePerObject(({ pods, unreadable, images }: RuntimeState) => {
    const readable = new Set(pods.map(({ uuid }) => uuid));
    const users = Map.groupBy(
      pods.flatMap(({ containers }) => containers),
      ({ image }) => image.id,
    );
    return [
      ...pods.map(resourceOfPod),
      ...unreadable.filter(({ podUuid }) => !readable.has(podUuid)).map(resourceOfUnreadable),
      ...images.map((image) => resourceOfImage(image, users.get(image.id)?.length ?? 0)),
    ];
  });
  return {
    ...podResourceTypes,
    async read(signal) {
      const { value, readAtMs } = await runtime.read(signal);
      return { resources: resourcesOf(value), readAtMs };
    },
    subscribe: (onChange) => runtime.subscribe(onChange),
  };
}

function resourceOfPod({
  uuid,
  name,
  phase,
  containers,
  labels,
  createdAtNs,
  startedAtNs,
  networks,
}: RuntimePod): Resource {
  const apps = containers.filter(({ isInfra }) => !isInfra);
  const addresses = networks.flatMap(({ ipv4, ipv6 }) => [ipv4, ipv6]).filter((address) => address !== "");
  const failed = phase === "running" ? undefined : apps.find(({ exitCode }) => isFailure(exitCode));
  return {
    name: podResource(uuid),
    type: "pod",
    title: name,
    state: phase,
    health: phase === "unknown" ? "unknown" : failed === undefined ? "ok" : "failed",
    figures: [
      count("containers", apps.length),
      count("running_containers", apps.filter(({ state }) => state === "running").length),
      time("created", Number(createdAtNs / 1_000_000n)),
      ...(startedAtNs === undefined ? [] : [time("started", Number(startedAtNs / 1_000_000n))]),
    ],
    labels: Object.fromEntries(labels),
    properties: {
      ...Object.fromEntries(apps.slice(0, 1).map(({ image: { name: image } }) => ["image", image])),
      ...(addresses.length === 0 ? {} : { addresses: addresses.join(" ") }),
    },
    ...(failed === undefined ? {} : { reason: `${failed.name} exited with code ${failed.exitCode}` }),
  };
}

/** 143 is the end by SIGTERM, which is how a pod is stopped. */
function isFailure(exitCode: number | undefined): boolean {
  return exitCode !== undefined && exitCode !== 0 && exitCode !== 143;
}

function resourceOfUnreadable({ podId, podUuid, why }: UnreadablePod): Resource {
  return {
    name: podResource(podUuid),
    type: "pod",
    title: podId,
    state: "unreadable",
    health: "unknown",
    figures: [],
    labels: {},
    reason: why,
  };
}

function resourceOfImage(
  { id, names, sizeBytes, createdAtNs, labels }: RuntimeImage,
  containerCount: number,
): Resource {
  return {
    name: imageResource(id),
    type: "image",
    title: names[0] ?? id.slice(0, 12),
    state: "present",
    health: "ok",
    figures: [
      bytes("size", sizeBytes),
      time("built", Number(createdAtNs / 1_000_000n)),
      count("containers", containerCount),
    ],
    labels: Object.fromEntries(labels),
    properties: { id, ...(names.length > 1 ? { other_names: names.slice(1).join(" ") } : {}) },
  };
}
