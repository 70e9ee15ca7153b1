import { create, type DescMethod } from "@bufbuild/protobuf";
import { VGService } from "../../../gen/proto/lvmd_pb.ts";
import { methodRuleOf } from "../../../server/method-table.ts";
import type { Call } from "../../../server/rpc/call.ts";
import { anonymous } from "../../../server/rpc/caller.ts";

/** A call that no client made, with what matters to a test; `ending` ends it. */
export function createCall(
  facts: { readonly ending?: AbortController; readonly leftMs?: number; readonly method?: DescMethod } = {},
): Call {
  const { ending = new AbortController(), method = VGService.method.watch } = facts;
  let caller = anonymous;
  return {
    method,
    rule: methodRuleOf(method),
    protocol: "grpc",
    peer: {
      address: "127.0.0.1",
      listener: "127.0.0.1:0",
      access: "login",
      isTls: false,
      certificate: undefined,
      httpVersion: "2.0",
    },
    requestId: "test",
    timeLeftMs: () => facts.leftMs,
    signal: ending.signal,
    end: (error) => ending.abort(error),
    get caller() {
      return caller;
    },
    identify: (who) => {
      caller = who;
    },
    input: async () => create(method.input),
    header: () => undefined,
    headerNames: () => [],
    noteResource: () => {},
    resource: () => undefined,
    setHeader: () => {},
  };
}
