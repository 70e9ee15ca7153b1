import type { ClientHttp2Stream } from "node:http2";
import {
  create,
  type DescMethod,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { endStreamFlag, endStreamFromJson } from "@connectrpc/connect/protocol-connect";
import { methodPathOf } from "../../rpc/call/method-rule.ts";
import { hubCallerHeader } from "../../rpc/interceptors/known-headers.ts";
import { envelopeOf } from "../../rpc/protocols/wire/envelope.ts";
import { encodeHubCaller, type HubCaller } from "../caller/hub-caller.ts";
import { badAnswer } from "../forward/answer-headers.ts";
import { hostUnreachable } from "../host-errors.ts";
import type { HostLink } from "../links/host-link.ts";
import { createEnvelopeReader } from "./envelope-reader.ts";

/** A stream of the hub from a host. */
export interface HostStreamCall<M extends DescMethod> {
  /** A method that streams its answers. */
  readonly method: M;
  readonly request: MessageInitShape<M["input"]>;
  readonly caller: HubCaller;
  /** Largest message that is accepted, in bytes. */
  readonly maxMessageBytes: number;
  readonly signal: AbortSignal;
}

/**
 * Calls a method of a host by the Connect protocol, and yields its messages: each time all that have arrived. Never ends by
 * itself.
 * @throws ConnectError of the host; InfraError HOST_UNREACHABLE, BAD_HOST_ANSWER, and the signal's reason
 */
export async function* streamFromHost<M extends DescMethod>(
  link: HostLink,
  { method, request, caller, maxMessageBytes, signal }: HostStreamCall<M>,
): AsyncGenerator<readonly MessageShape<M["output"]>[], never> {
  const stream = link.request({
    ":method": "POST",
    ":path": `/${methodPathOf(method)}`,
    "content-type": "application/connect+proto",
    "connect-protocol-version": "1",
    [hubCallerHeader]: encodeHubCaller(caller),
  });
  const end = () => stream.destroy();
  signal.addEventListener("abort", end, { once: true });
  try {
    const next = readMessages(stream, link.host, maxMessageBytes);
    stream.end(envelopeOf(toBinary(method.input, create(method.input, request))));
    for (;;) {
      signal.throwIfAborted();
      const arrived = await next();
      signal.throwIfAborted();
      yield arrived.map((data) => decode(link.host, method, data));
    }
  } finally {
    signal.removeEventListener("abort", end);
    stream.destroy();
  }
}

/** The host is slowed down while this much has arrived and was not read. */
const waitingMaxBytes = 256 * 1024;

/** Returns a function that waits for messages and returns all that have arrived. @throws the reason of the stream's end */
function readMessages(stream: ClientHttp2Stream, host: string, maxMessageBytes: number) {
  const reader = createEnvelopeReader(host, maxMessageBytes);
  let arrived: Uint8Array[] = [];
  let arrivedBytes = 0;
  let failure: { readonly reason: unknown } | undefined;
  let wake = () => {};

  function fail(reason: unknown): void {
    failure ??= { reason };
    wake();
  }

  function take(chunk: Buffer): void {
    for (const { flags, data } of reader.push(chunk)) {
      if ((flags & endStreamFlag) !== 0) {
        fail(endStreamFromJson(data).error ?? badAnswer(host, "the stream has ended"));
        return;
      }
      arrived.push(data);
      arrivedBytes += data.byteLength;
    }
    if (arrivedBytes > waitingMaxBytes) {
      stream.pause();
    }
    wake();
  }

  // `close` reports the end as well.
  stream.on("error", () => {});
  stream.once("response", ({ ":status": status }) => {
    if (status !== 200) {
      fail(badAnswer(host, `status ${status}`));
    }
  });
  stream.on("data", (chunk: Buffer) => {
    try {
      take(chunk);
    } catch (error) {
      fail(error);
    }
  });
  stream.once("close", () => fail(hostUnreachable(host, "its connection broke")));

  return async (): Promise<readonly Uint8Array[]> => {
    // Also woken by parts of a message.
    while (arrived.length === 0 && failure === undefined) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    const taken = arrived;
    if (taken.length === 0) {
      throw failure?.reason;
    }
    arrived = [];
    arrivedBytes = 0;
    stream.resume();
    return taken;
  };
}

function decode<M extends DescMethod>(host: string, method: M, data: Uint8Array): MessageShape<M["output"]> {
  try {
    return fromBinary(method.output, data) as MessageShape<M["output"]>;
  } catch {
    throw badAnswer(host, `a message is no ${method.output.typeName}`);
  }
}
