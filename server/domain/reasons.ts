import { defineReasons } from "../../adapters/host/define-reasons.ts";

/** Reasons for which a whole domain cannot be used. */
export const domainReasons = defineReasons({
  DOMAIN_OFF: {
    code: "UNAVAILABLE",
    retryable: false,
    meaning: "The domain is not configured; the message names the configuration key that enables it.",
  },
  DOMAIN_NOT_BUILT: {
    code: "UNIMPLEMENTED",
    retryable: false,
    meaning:
      "The method is part of the contract, but this version of the gateway does not implement its domain yet.",
  },
});
