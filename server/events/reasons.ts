import { defineReasons } from "../../adapters/host/define-reasons.ts";

/** Reasons of the event log. */
export const eventReasons = defineReasons({
  HISTORY_GONE: {
    code: "OUT_OF_RANGE",
    retryable: false,
    meaning:
      "Events after the cursor are no longer stored; `oldestCursor` in the error's metadata is the oldest cursor to continue from.",
  },
  SUBSCRIBER_TOO_SLOW: {
    code: "RESOURCE_EXHAUSTED",
    retryable: true,
    meaning:
      "The subscriber did not keep up with the events; it can continue from `cursor` in the error's metadata.",
  },
});
