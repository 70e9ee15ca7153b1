import { defineReasons } from "../../../adapters/host/define-reasons.ts";

/** Reasons of the inventory. */
export const inventoryReasons = defineReasons({
  HOST_INVENTORY_TOO_LARGE: {
    code: "RESOURCE_EXHAUSTED",
    retryable: false,
    meaning:
      "The host has more resources than a hub keeps of its hosts, so some are missing; name the host in the call.",
  },
});
