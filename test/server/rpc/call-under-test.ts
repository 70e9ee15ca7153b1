import { VGService } from "../../../gen/proto/lvmd_pb.ts";
import { methodRuleOf } from "../../../server/method-table.ts";
import type { Call } from "../../../server/rpc/call.ts";

/** A call that no client made, with what matters to a test. */
export function createCall(facts: { readonly signal?: AbortSignal; readonly leftMs?: number } = {}): Call {
  const method = VGService.method.watch;
  return {
    method,
    rule: methodRuleOf(method),
    protocol: "grpc",
    peer: { address: "127.0.0.1", listener: "127.0.0.1:0", httpVersion: "2.0" },
    requestId: "test",
    timeLeftMs: () => facts.leftMs,
    signal: facts.signal ?? new AbortController().signal,
    header: () => undefined,
    headerNames: () => [],
    noteResource: () => {},
    resource: () => undefined,
    setHeader: () => {},
  };
}
