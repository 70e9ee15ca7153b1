import { defineReasons } from "../../../adapters/host/define-reasons.ts";

/** Reasons of plans. */
export const planReasons = defineReasons({
  NOT_PLANNABLE: {
    code: "UNIMPLEMENTED",
    retryable: false,
    meaning: "The method does not support dry runs: it changes nothing, or its changes cannot be predicted.",
  },
});
