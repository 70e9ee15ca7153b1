import { run } from "../../../../adapters/host/process/run.ts";
import type { Call } from "../../../../server/rpc/call/call.ts";
import type { MethodRule } from "../../../../server/rpc/call/method-rule.ts";
import type { AnyHandler } from "../../../../server/rpc/call/service-handlers.ts";
import {
  type BidiStreamRequest,
  type ClientStreamRequest,
  ConformanceService,
} from "../../../conformance/gen/connectrpc/conformance/v1/service_pb.ts";
import type { UnderTestOptions } from "../../harness/gateway-under-test.ts";

const rule: MethodRule = {
  domain: "system",
  role: "viewer",
  mutation: false,
  get: false,
  cache: false,
  secrets: false,
  secretAnswer: false,
  ofEveryService: true,
  hostBound: false,
  fleetWide: false,
  repeatable: false,
};

/** A service with streams of requests, which the contract has in gRPC reflection only. */
export interface TestService {
  readonly furtherServices: NonNullable<UnderTestOptions["furtherServices"]>;
  /** How the tools of unary calls have ended, in order. */
  readonly toolEnds: readonly Promise<string>[];
  /** Bytes of client streams that were read. */
  readBytes(): number;
}

/**
 * Creates a service whose unary method runs a tool until the call ends. Client streams are counted once `mayRead` resolves;
 * bidirectional streams return what they receive.
 */
export function createTestService(mayRead: Promise<void> = Promise.resolve()): TestService {
  const toolEnds: Promise<string>[] = [];
  let readBytes = 0;

  const handlers: Readonly<Record<string, AnyHandler>> = {
    unary: async (_request, call: Call) => {
      const running = run(["sleep", "600"], { kind: "read", signal: call.signal });
      toolEnds.push(
        running.then(
          () => "completed",
          (error) => String(error.reason),
        ),
      );
      await running;
      return {};
    },
    clientStream: async (requests) => {
      await mayRead;
      let count = 0;
      for await (const { requestData } of requests as AsyncIterable<ClientStreamRequest>) {
        count += 1;
        readBytes += requestData.byteLength;
      }
      return { payload: { data: Buffer.from(`${count} messages`) } };
    },
    bidiStream: async function* (requests) {
      for await (const { requestData } of requests as AsyncIterable<BidiStreamRequest>) {
        yield { payload: { data: requestData } };
      }
    },
  };
  const handlerOf = ({ localName }: { readonly localName: string }): AnyHandler =>
    handlers[localName] ?? (() => Promise.reject(new TypeError(`${localName} is not tested`)));
  return {
    furtherServices: {
      registrations: [{ service: ConformanceService, handlerOf }],
      ruleOf: () => rule,
    },
    toolEnds,
    readBytes: () => readBytes,
  };
}
