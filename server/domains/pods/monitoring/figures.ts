import type { PodRuntime } from "../../../../adapters/podman/adapter.ts";
import type { FigureSource } from "../../../domain/figure-source.ts";
import { bytes, count } from "../../../domain/inventory-source.ts";

/** How many pods, containers and images the host has, as `pods`. */
export function createPodFigures(runtime: Pick<PodRuntime, "read">): FigureSource {
  return {
    domain: "pods",
    services: ["hostplane.v1.PodService", "v1alpha.PublicAPI"],
    async read(signal) {
      const { pods, images } = (await runtime.read(signal)).value;
      const containers = pods.flatMap((pod) => pod.containers.filter(({ isInfra }) => !isInfra));
      return [
        {
          name: "pods",
          figures: [
            count("pods", pods.length),
            count("running", pods.filter(({ phase }) => phase === "running").length),
            count("containers", containers.length),
            count("running_containers", containers.filter(({ state }) => state === "running").length),
            count("images", images.length),
            bytes(
              "image_size",
              images.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0n),
            ),
          ],
        },
      ];
    },
  };
}
