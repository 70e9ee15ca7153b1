import { createContextKey } from "@connectrpc/connect";
import type { RequestFacts } from "../../call/request-facts.ts";

/** Passes the facts of a request through connect-es to its call. */
export const requestFactsKey = createContextKey<RequestFacts | undefined>(undefined, {
  description: "facts of the HTTP request",
});

/** Set once a call has begun. An error answered before that was created by connect-es. */
export const hasStartedKey = createContextKey(false, { description: "the call has begun" });
