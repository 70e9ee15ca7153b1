import type { Inspection } from "../../../domain/inspection.ts";
import type { ClustersConfig } from "../config.ts";
import { createClustersInspector } from "./inspect-clusters.ts";

/** Creates the check of MAAS. It opens MAAS itself, so that files that cannot be read are findings. */
export async function inspectClusters(config: ClustersConfig): Promise<Inspection> {
  return { inspectors: [createClustersInspector(config)], close: async () => {} };
}
