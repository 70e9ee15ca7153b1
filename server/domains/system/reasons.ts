import { defineReasons } from "../../../adapters/host/define-reasons.ts";

/** Reasons of the health service. */
export const systemReasons = defineReasons({
  SERVICE_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "The health service has no service of this name.",
  },
});
