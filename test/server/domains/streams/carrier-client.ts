import { type DescMethod, fromJson, type JsonObject, toBinary } from "@bufbuild/protobuf";
import { createClient, type Transport } from "@connectrpc/connect";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import type { Test } from "tap";
import { StreamService } from "../../../../gen/hostplane/v1/stream_pb.ts";
import { methodPathOf } from "../../../../server/rpc/call/method-rule.ts";
import { type Envelope, envelopesFrom } from "../../harness/envelopes.ts";

/** The answer of a call on a carrier. */
export interface CarriedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Those that have arrived. */
  envelopes(): readonly Envelope[];
  isEnded(): boolean;
}

export interface CarrierClient {
  readonly carrierId: string;
  /** Starts a call, and returns when its answer has this many envelopes or has ended. */
  open(method: DescMethod, request?: JsonObject, envelopes?: number): Promise<CarriedAnswer>;
  /** Waits until this many heartbeats have arrived. */
  heartbeats(count: number): Promise<void>;
  /** Waits until a number of envelopes of a call has arrived, or it has ended. */
  until(answer: CarriedAnswer, envelopes: number): Promise<void>;
  /** Resolves when the carrier has ended. @throws ConnectError that ended it */
  readonly ended: Promise<void>;
  close(): void;
}

interface Received {
  status: number;
  headers: Readonly<Record<string, string>>;
  readonly chunks: Uint8Array[];
  isEnded: boolean;
}

/** Opens a carrier; it is closed with the test. */
export async function openCarrierClient(t: Test, transport: Transport): Promise<CarrierClient> {
  const client = createClient(StreamService, transport);
  const closing = new AbortController();
  t.teardown(() => closing.abort());
  const answers = new Map<number, Received>();
  const opened = Promise.withResolvers<string>();
  let heartbeatCount = 0;
  let lastStream = 0;
  let next = Promise.withResolvers<void>();

  const receivedOf = (stream: number) => {
    const received = answers.get(stream) ?? { status: 0, headers: {}, chunks: [], isEnded: false };
    answers.set(stream, received);
    return received;
  };
  const follow = async () => {
    for await (const { message } of client.carryStreams({}, { signal: closing.signal })) {
      switch (message.case) {
        case "opened":
          opened.resolve(message.value.carrierId);
          break;
        case "heartbeat":
          heartbeatCount += 1;
          break;
        case "head":
          Object.assign(receivedOf(message.value.stream), message.value);
          break;
        case "data":
          receivedOf(message.value.stream).chunks.push(message.value.data);
          break;
        case "end":
          receivedOf(message.value.stream).isEnded = true;
          break;
        default:
      }
      next.resolve();
      next = Promise.withResolvers();
    }
  };
  const ended = follow();
  ended.catch(opened.reject);
  const carrierId = await opened.promise;

  const untilTrue = async (isTrue: () => boolean) => {
    while (!isTrue()) {
      await next.promise;
    }
  };
  const until = (answer: CarriedAnswer, envelopes: number) =>
    untilTrue(() => answer.isEnded() || answer.envelopes().length >= envelopes);
  return {
    carrierId,
    async open(method, request = {}, envelopes = 1) {
      lastStream += 1;
      const stream = lastStream;
      const message = toBinary(method.input, fromJson(method.input, request));
      await client.openStream({
        carrierId,
        stream,
        method: methodPathOf(method),
        contentType: "application/connect+proto",
        body: encodeEnvelope(0, message),
      });
      const received = receivedOf(stream);
      const answer: CarriedAnswer = {
        get status() {
          return received.status;
        },
        get headers() {
          return received.headers;
        },
        envelopes: () => envelopesFrom(Buffer.concat(received.chunks)),
        isEnded: () => received.isEnded,
      };
      await until(answer, envelopes);
      return answer;
    },
    heartbeats: (count) => untilTrue(() => heartbeatCount >= count),
    until,
    ended,
    close: () => closing.abort(),
  };
}
