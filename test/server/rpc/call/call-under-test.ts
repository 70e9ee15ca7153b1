import { create, type DescMethod, type Message } from "@bufbuild/protobuf";
import { VGService } from "../../../../gen/proto/lvmd_pb.ts";
import { methodRuleOf } from "../../../../server/gateway/method-rules.ts";
import type { AppliedPlan } from "../../../../server/rpc/call/applied-plan.ts";
import {
  type Call,
  operationHeader,
  type Peer,
  type StreamEndListener,
} from "../../../../server/rpc/call/call.ts";
import { anonymous } from "../../../../server/rpc/call/caller.ts";
import { deadlinePassed } from "../../../../server/rpc/call/until-call-ends.ts";
import { infraErrorFrom } from "../../../../server/rpc/errors/connect-error.ts";

/** Creates a call without a client, with the given properties; `ending` ends it. */
export function createCall(
  facts: {
    readonly ending?: AbortController;
    readonly leftMs?: number;
    readonly method?: DescMethod;
    readonly peer?: Partial<Peer>;
    readonly headers?: Readonly<Record<string, string>>;
    readonly input?: Message;
    readonly appliedPlan?: AppliedPlan;
    /** Receives the headers of the answer. */
    readonly answered?: Headers;
  } = {},
): Call {
  const { ending = new AbortController(), method = VGService.method.watch } = facts;
  if (facts.leftMs !== undefined) {
    setTimeout(() => ending.abort(deadlinePassed()), facts.leftMs);
  }
  const overListeners: StreamEndListener[] = [];
  let caller = anonymous;
  let resource: string | undefined;
  let operationId: string | undefined;
  return {
    method,
    rule: methodRuleOf(method),
    protocol: "grpc",
    peer: {
      address: "127.0.0.1",
      listener: "127.0.0.1:0",
      services: undefined,
      access: "login",
      isTls: false,
      authority: "127.0.0.1:0",
      certificate: undefined,
      httpVersion: "2.0",
      errorDetails: true,
      lvmd: "backups",
      ...facts.peer,
    },
    requestId: "test",
    timeLeftMs: () => facts.leftMs,
    signal: ending.signal,
    end: (error) => ending.abort(error),
    onEnd: (listener) => {
      const { signal } = ending;
      const onAbort = () => listener(infraErrorFrom(signal.reason));
      if (signal.aborted) {
        onAbort();
        return () => {};
      }
      signal.addEventListener("abort", onAbort, { once: true });
      return () => signal.removeEventListener("abort", onAbort);
    },
    onStreamEnd: (listener) => void overListeners.push(listener),
    async notifyStreamEnd(error) {
      for (const listener of overListeners) {
        await listener(error);
      }
    },
    get caller() {
      return caller;
    },
    identify: (who) => {
      caller = who;
    },
    ...(facts.appliedPlan === undefined ? {} : { appliedPlan: facts.appliedPlan }),
    limitTo: () => {},
    chargeTo: () => {},
    input: async () => facts.input ?? create(method.input),
    header: (name) => facts.headers?.[name],
    headerNames: () => Object.keys(facts.headers ?? {}),
    noteFleetHost: () => {},
    noteResource: (name) => {
      resource = name;
    },
    resource: () => resource,
    noteOperation: (id) => {
      operationId = id;
      facts.answered?.set(operationHeader, id);
    },
    operationId: () => operationId,
    setHeader: (name, value) => facts.answered?.set(name, value),
    appendHeader: (name, value) => facts.answered?.append(name, value),
    appendTrailer: () => {},
    query: () => undefined,
    isFiltered: false,
    noteFiltered: () => {},
    openSink: () => {
      throw new TypeError("a call that no client made has no response");
    },
  };
}
