import { defineReasons } from "../../../adapters/host/define-reasons.ts";

/** Reasons of streams on carriers. */
export const streamReasons = defineReasons({
  CARRIER_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "The carrier has ended, or was opened with another credential: open another one.",
  },
});
