import type { FigureSource } from "../../../domain/figure-source.ts";
import { count, type InventorySource } from "../../../domain/inventory-source.ts";

const summed = ["wanted_machines", "machines", "ready_machines"];

/** The machines of all Kubernetes clusters together, as `clusters`. */
export function createClusterFigures(resources: Pick<InventorySource, "services" | "read">): FigureSource {
  return {
    domain: "clusters",
    services: resources.services,
    async read(signal) {
      const { resources: clusters } = await resources.read(signal);
      const figures = clusters.flatMap((cluster) => cluster.figures);
      return [
        {
          name: "clusters",
          figures: [
            count("clusters", clusters.length),
            ...summed.map((name) =>
              count(
                name,
                figures.filter((each) => each.name === name).reduce((sum, { value }) => sum + value, 0),
              ),
            ),
          ],
        },
      ];
    },
  };
}
