import { cephReasons } from "../../../adapters/ceph/reasons.ts";
import { kubernetesReasons } from "../../../adapters/kubernetes/reasons.ts";
import { type CallReasons, reasonsOfSystems, reasonsOfTools } from "../../domain/call-reasons.ts";
import { storageReasons } from "./reasons.ts";

/** Reasons for which the calls of storage fail. */
export const storageCallReasons: CallReasons = {
  tables: [storageReasons, cephReasons, kubernetesReasons],
  every: [
    ...reasonsOfSystems,
    ...reasonsOfTools,
    cephReasons.CEPH_UNAVAILABLE,
    cephReasons.CEPH_DENIED,
    cephReasons.CEPH_FAILED,
    cephReasons.CEPH_OPERATOR_MISSING,
    ...Object.values(kubernetesReasons),
    ...Object.values(storageReasons),
  ],
  change: [cephReasons.CRASH_NOT_FOUND],
};
