import type { PodRuntime } from "../../../adapters/podman/adapter.ts";
import { type Image, type Pod, PublicAPI } from "../../../gen/v1alpha/api_pb.ts";
import { registerService, type ServiceRegistration } from "../../rpc/call/service-handlers.ts";
import type { ImportTimes } from "./events/import-times.ts";
import type { ListenEvents } from "./events/listen-events.ts";
import { findPod } from "./find-pod.ts";
import { findImage } from "./image-id.ts";
import type { PodLogs } from "./logs/pod-logs.ts";
import { parseImageFilters } from "./public/image-filter.ts";
import { parsePodFilters } from "./public/pod-filter.ts";
import { imagesById, publicImage } from "./public/public-image.ts";
import { publicInfo } from "./public/public-info.ts";
import { publicPod } from "./public/public-pod.ts";
import { setSnapshotAge } from "./snapshot-age.ts";

export interface PublicApiOptions {
  readonly runtime: PodRuntime;
  readonly importTimes: ImportTimes;
  readonly logs: PodLogs;
  readonly listenEvents: ListenEvents;
}

/** Implements v1alpha.PublicAPI: pods and images in the terms of rkt. */
export function createPublicApiService(options: PublicApiOptions): ServiceRegistration {
  const { runtime, importTimes, logs, listenEvents } = options;
  const manifest = ({ document }: { readonly document: string }) => ({
    manifest: new TextEncoder().encode(document),
  });
  return registerService(PublicAPI, {
    async getInfo(_request, call) {
      return { info: publicInfo(await runtime.info(call.signal)) };
    },
    async listPods({ filters, detail }, call) {
      const matches = parsePodFilters(filters);
      const snapshot = await runtime.read(call.signal);
      const { pods, images } = snapshot.value;
      const known = imagesById(images);
      setSnapshotAge(call, snapshot);
      return {
        pods: pods
          .map((pod) => ({ pod, message: publicPod(pod, known) }))
          .filter(matches)
          .map(
            ({ pod, message }): Pod => (detail ? { ...message, ...manifest(pod) } : { ...message, apps: [] }),
          ),
      };
    },
    async inspectPod({ id }, call) {
      const snapshot = await runtime.read(call.signal);
      const { pods, unreadable, images } = snapshot.value;
      const pod = findPod(pods, id, { field: "id", prefix: true, name: false, unreadable });
      call.noteResource(`pods/${pod.uuid}`);
      setSnapshotAge(call, snapshot);
      return { pod: { ...publicPod(pod, imagesById(images)), ...manifest(pod) } };
    },
    async listImages({ filters, detail }, call) {
      const matches = parseImageFilters(filters);
      const snapshot = await runtime.read(call.signal);
      setSnapshotAge(call, snapshot);
      return {
        images: snapshot.value.images
          .map((image) => ({ image, message: publicImage(image, importTimes.importedAtNs(image.id)) }))
          .filter(matches)
          .map(({ image, message }): Image => (detail ? { ...message, ...manifest(image) } : message)),
      };
    },
    async inspectImage({ id }, call) {
      const snapshot = await runtime.read(call.signal);
      const image = findImage(snapshot.value.images, id, "id");
      call.noteResource(`images/${image.id}`);
      setSnapshotAge(call, snapshot);
      return { image: { ...publicImage(image, importTimes.importedAtNs(image.id)), ...manifest(image) } };
    },
    listenEvents: (request, call) => listenEvents(request, call),
    getLogs: (request, call) => logs.read(request, call),
  });
}
