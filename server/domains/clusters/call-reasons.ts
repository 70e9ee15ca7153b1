import { maasReasons } from "../../../adapters/maas/reasons.ts";
import { workloadReasons } from "../../../adapters/workload/reasons.ts";
import { type CallReasons, reasonsOfOperations, reasonsOfSystems } from "../../domain/call-reasons.ts";
import { storeReasons } from "../../store/reasons.ts";
import { clusterReasons } from "./reasons.ts";

/** Reasons for which the calls of clusters fail. */
export const clusterCallReasons: CallReasons = {
  tables: [clusterReasons, maasReasons, workloadReasons],
  every: [
    ...reasonsOfSystems,
    maasReasons.MAAS_UNAVAILABLE,
    maasReasons.MAAS_DENIED,
    maasReasons.MAAS_FAILED,
    maasReasons.MAAS_REFUSED,
    maasReasons.MACHINE_NOT_FOUND,
    ...Object.values(workloadReasons),
    clusterReasons.CLUSTER_NOT_FOUND,
    clusterReasons.CLUSTER_OF_OTHER_MAAS,
    clusterReasons.CLUSTER_ENDPOINT_MISSING,
    clusterReasons.POOL_NOT_FOUND,
    // The kubeconfigs of clusters are encrypted with the master key.
    storeReasons.MASTER_KEY_MISMATCH,
  ],
  change: [...reasonsOfOperations, ...Object.values(maasReasons), ...Object.values(clusterReasons)],
};
