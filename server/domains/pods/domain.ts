import { PodService } from "../../../gen/hostplane/v1/pod_pb.ts";
import { PublicAPI } from "../../../gen/v1alpha/api_pb.ts";
import { defineDomain } from "../../domain/define-domain.ts";
import { podCallReasons } from "./call-reasons.ts";
import { podsSchema } from "./config.ts";
import { podResourceTypes } from "./monitoring/resource-types.ts";
import type { PodSystem } from "./system/system.ts";

/** Pods and images of this host's Podman. */
export const podsDomain = defineDomain<"pods", typeof podsSchema, PodSystem>({
  name: "pods",
  services: [{ service: PublicAPI }, { service: PodService }],
  resourceTypes: [podResourceTypes],
  isHostBound: true,
  hasEvents: true,
  config: {
    schema: podsSchema,
    description: "Pods and images of this host (`v1alpha.PublicAPI`). Off if absent.",
  },
  off: { backend: "podman", message: "pods are off: set `pods` in the configuration" },
  reasons: podCallReasons,
  openReal: async (config) => (await import("./system/open-real.ts")).openRealPods(config),
  openSandbox: async (world) => (await import("./system/open-sandbox.ts")).openSandboxPods(world),
  inspect: async (config) => (await import("./doctor/doctor.ts")).inspectPods(config),
  serve: async (system, context) => (await import("./serve.ts")).servePods(system, context),
});
