import type { Call } from "./call.ts";
import { methodPathOf } from "./method-rule.ts";

/** Requester of long-running work, which may outlive the call. */
export interface Requester {
  readonly actor: string;
  readonly accountId: string;
  /** The RPC, as `package.Service/Method`. */
  readonly rpc: string;
  /** Aborted when the requester has left. That does not end the operation. */
  readonly signal: AbortSignal;
  noteResource(resource: string): void;
  noteOperation(id: string): void;
}

/** Adapts a call to its requester. */
export function requesterFrom(call: Call): Requester {
  const { caller, method, signal } = call;
  return {
    actor: caller.actor,
    accountId: caller.accountId,
    rpc: methodPathOf(method),
    signal,
    noteResource: (resource) => call.noteResource(resource),
    noteOperation: (id) => call.noteOperation(id),
  };
}
