import type { Inspection } from "../../../domain/inspection.ts";
import type { StorageConfig } from "../config.ts";
import { openRealStorage } from "../system/open-real.ts";
import { createCephInspector } from "./inspect-ceph.ts";
import { createKubernetesInspector } from "./inspect-kubernetes.ts";

/** Creates the checks of Ceph and Kubernetes. */
export async function inspectStorage(config: StorageConfig): Promise<Inspection> {
  const { ceph, kubernetes, close } = await openRealStorage(config);
  return {
    inspectors: [
      ...(ceph === undefined ? [] : [createCephInspector(ceph)]),
      ...(kubernetes === undefined ? [] : [createKubernetesInspector(kubernetes)]),
    ],
    close,
  };
}
