import type { Inspection } from "../../domain/inspection.ts";
import { createCephInspector } from "./ceph/inspect-ceph.ts";
import type { StorageConfig } from "./config.ts";
import { createKubernetesInspector } from "./kubernetes/inspect-kubernetes.ts";
import { openRealStorage } from "./open-real.ts";

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
