import { InfraError } from "../../../adapters/host/infra-error.ts";
import type { PodRuntime } from "../../../adapters/podman/adapter.ts";
import { PodService } from "../../../gen/hostplane/v1/pod_pb.ts";
import { PublicAPI } from "../../../gen/v1alpha/api_pb.ts";
import { type AccessRegistration, registerAccess } from "../../rpc/access/method-access.ts";
import { imageResource, podResource } from "./events/own-changes.ts";
import { type FindPodOptions, findAnyPod } from "./find-pod.ts";
import { imageIdFrom } from "./image-id.ts";

/** Returns what the calls of the services for pods and images concern. */
export function createPodAccess(runtime: Pick<PodRuntime, "read">): readonly AccessRegistration[] {
  /** Returns the pod that a reference finds. If there is none, its resource is the reference, which refusals name in any case. */
  async function podsNamed(
    reference: string,
    how: Pick<FindPodOptions, "name" | "prefix">,
    signal: AbortSignal,
  ) {
    const { pods, unreadable } = (await runtime.read(signal)).value;
    try {
      const pod = findAnyPod(pods, reference, { field: "pod", ...how, unreadable });
      const resource = podResource("why" in pod ? pod.podUuid : pod.uuid);
      return [{ resource, named: podResource(reference) }];
    } catch (error) {
      if (error instanceof InfraError) {
        return [podResource(reference)];
      }
      throw error;
    }
  }

  const changed = {
    touches: ({ pod }: { readonly pod: string }, { signal }: { readonly signal: AbortSignal }) =>
      podsNamed(pod, { name: true, prefix: false }, signal),
  };
  const read = (id: string, { signal }: { readonly signal: AbortSignal }) =>
    podsNamed(id, { name: false, prefix: true }, signal);
  const image = (id: string) => [imageResource(imageIdFrom(id))];
  return [
    registerAccess(PublicAPI, {
      listPods: {
        shows: ({ pods = [] }, sees) => ({ pods: pods.filter(({ id = "" }) => sees(podResource(id))) }),
      },
      inspectPod: { touches: ({ id }, call) => read(id, call) },
      listImages: {
        shows: ({ images = [] }, sees) => ({
          images: images.filter(({ id = "" }) => sees(imageResource(imageIdFrom(id)))),
        }),
      },
      inspectImage: { touches: ({ id }) => image(id) },
      listenEvents: "own",
      getLogs: { touches: ({ podId }, call) => read(podId, call) },
    }),
    registerAccess(PodService, {
      listPods: {
        shows: ({ pods = [], unreadable = [] }, sees) => ({
          pods: pods.filter(({ id = "" }) => sees(podResource(id))),
          unreadable: unreadable.filter(({ id = "" }) => sees(podResource(id))),
        }),
      },
      watchPods: {
        shows: ({ pods = [], unreadable = [], readAt }, sees) => ({
          pods: pods.filter(({ id = "" }) => sees(podResource(id))),
          unreadable: unreadable.filter(({ id = "" }) => sees(podResource(id))),
          ...(readAt === undefined ? {} : { readAt }),
        }),
      },
      listImages: {
        shows: ({ images = [] }, sees) => ({
          images: images.filter(({ id = "" }) => sees(imageResource(id))),
        }),
      },
      startPod: changed,
      stopPod: changed,
      killPod: changed,
      removePod: changed,
    }),
  ];
}
