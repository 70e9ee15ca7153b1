import { createContextKey } from "@connectrpc/connect";
import type { Peer } from "./call.ts";
import type { HttpResponse } from "./http-exchange.ts";
import type { RequestHold } from "./request-hold.ts";

/** What the HTTP side knows of a request before any protocol has read it. */
export interface RequestFacts {
  readonly peer: Peer;
  readonly requestId: string;
  /** Whether the answer is gRPC-Web in base64. */
  readonly isText?: boolean;
  /** What the answer is written to. */
  readonly response?: HttpResponse;
  /** Where it is limited what the request takes. */
  readonly hold?: RequestHold | undefined;
  /** Told of each message that a sink of the call has written past its outputs. */
  readonly onDirectWrite?: () => void;
}

/** The header that names a call in the answer, the log and the gateway's errors. */
export const requestIdHeader = "hostplane-request-id";

/** Carries the facts through connect-es to the call path. */
export const requestFactsKey = createContextKey<RequestFacts>(
  {
    peer: {
      address: "",
      listener: "",
      services: undefined,
      access: "login",
      isTls: false,
      authority: "",
      certificate: undefined,
      httpVersion: "1.1",
      errorDetails: true,
      lvmd: "backups",
    },
    requestId: "",
  },
  { description: "facts of the HTTP request" },
);

/** Set once a call has reached our call path; an error answered before that is connect-es' own. */
export const reachedKey = createContextKey(false, { description: "the call path was reached" });
