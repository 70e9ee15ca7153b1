import { createContextKey } from "@connectrpc/connect";
import type { HttpResponse } from "../protocols/http/http-exchange.ts";
import type { Peer } from "./call.ts";
import type { RequestHold } from "./request-usage.ts";

/** Facts of a request that the HTTP server knows before a protocol reads it. */
export interface RequestFacts {
  readonly peer: Peer;
  readonly requestId: string;
  /** Whether the answer is gRPC-Web in base64. */
  readonly isText?: boolean;
  /** The response that the answer is written to. */
  readonly response?: HttpResponse;
  /** Present if the request's use of resources is limited. */
  readonly hold?: RequestHold | undefined;
  /** Called for each message that a sink of the call writes, bypassing its outputs. */
  readonly onDirectWrite?: () => void;
}

/** The header that identifies a call in its answer; the log and the gateway's errors have the same id. */
export const requestIdHeader = "hostplane-request-id";

/** Passes the facts through connect-es to the call path. */
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

/** Set once a call has reached the gateway's call path. An error answered before that was created by connect-es. */
export const reachedKey = createContextKey(false, { description: "the call path was reached" });
