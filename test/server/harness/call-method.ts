import {
  type DescMethod,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  fromJson,
  type JsonObject,
  toJson,
} from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import { methodRuleOf } from "../../../server/gateway/method-rules.ts";
import { eventStreamMethodOf } from "../../../server/rpc/protocols/sse/event-stream-methods.ts";
import type { Protocol } from "./protocols.ts";

/** Reports whether a protocol can carry a method at all. */
export function isCallable(protocol: Protocol, method: DescMethod): boolean {
  if (method.methodKind === "bidi_streaming" && protocol.httpVersion === "1.1") {
    return false;
  }
  const rule = methodRuleOf(method);
  if (protocol.isEventStream === true) {
    const stream = eventStreamMethodOf(method, rule);
    return stream !== undefined && (protocol.isGet === undefined || stream.byGet);
  }
  return protocol.isGet === undefined || rule.get;
}

/** Calls a method of any kind and returns its answer, or the first one of a stream, as JSON. */
export async function callMethod(
  transport: Transport,
  method: DescMethod,
  request: JsonObject,
): Promise<unknown> {
  const input = fromJson(method.input, request);
  if (method.methodKind === "unary") {
    const unary = method as DescMethodUnary;
    const response = await transport.unary(unary, undefined, undefined, undefined, input);
    return toJson(method.output, response.message);
  }
  const leaving = new AbortController();
  const stream = method as DescMethodServerStreaming;
  const inputs = (async function* () {
    yield input;
  })();
  try {
    const response = await transport.stream(stream, leaving.signal, undefined, undefined, inputs);
    for await (const message of response.message) {
      return toJson(method.output, message);
    }
    throw new TypeError(`${method.name} ended without a message`);
  } finally {
    leaving.abort();
  }
}
