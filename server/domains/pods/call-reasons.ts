import { podmanReasons } from "../../../adapters/podman/reasons.ts";
import { type CallReasons, reasonsOfSystems } from "../../domain/call-reasons.ts";

/** Reasons for which the calls of pods fail. */
export const podCallReasons: CallReasons = {
  tables: [podmanReasons],
  every: [
    ...reasonsOfSystems,
    podmanReasons.PODMAN_UNAVAILABLE,
    podmanReasons.PODMAN_DENIED,
    podmanReasons.PODMAN_FAILED,
    podmanReasons.POD_NOT_FOUND,
    podmanReasons.CONTAINER_NOT_FOUND,
    podmanReasons.IMAGE_NOT_FOUND,
    podmanReasons.LOGS_UNAVAILABLE,
  ],
  change: Object.values(podmanReasons),
};
