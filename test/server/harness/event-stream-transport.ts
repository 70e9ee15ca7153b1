import {
  create,
  type DescMessage,
  type DescMethodStreaming,
  fromJsonString,
  type MessageInitShape,
  type MessageShape,
  toJsonString,
} from "@bufbuild/protobuf";
import { Code, ConnectError, type StreamResponse, type Transport } from "@connectrpc/connect";
import { errorFromJsonBytes } from "@connectrpc/connect/protocol-connect";
import { methodPathOf } from "../../../server/rpc/call/method-rule.ts";
import { type EventStream, openEventStream } from "./event-stream-client.ts";
import type { Client } from "./protocols.ts";

/**
 * Creates a transport that calls server streams over server-sent events, each on a new connection.
 * @param byGet with the message in the query, as in Connect GET; otherwise by POST
 */
export function createEventStreamTransport(
  baseUrl: string,
  httpVersion: "1.1" | "2",
  byGet: boolean,
  { headers = {}, tls = {} }: Client = {},
): Transport {
  async function stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodStreaming<I, O>,
    signal: AbortSignal | undefined,
    timeoutMs: number | undefined,
    header: ConstructorParameters<typeof Headers>[0],
    inputs: AsyncIterable<MessageInitShape<I>>,
  ): Promise<StreamResponse<I, O>> {
    const message = toJsonString(method.input, create(method.input, await onlyOf(inputs)));
    const path = `${new URL(baseUrl).pathname.replace(/\/$/, "")}/${methodPathOf(method)}`;
    const query = new URLSearchParams({ connect: "v1", encoding: "json", message });
    const answer = await reached(
      openEventStream(baseUrl, {
        httpVersion,
        path: byGet ? `${path}?${query}` : path,
        ...(byGet ? {} : { body: message }),
        headers: {
          ...headers,
          ...Object.fromEntries(new Headers(header)),
          ...(timeoutMs === undefined ? {} : { "connect-timeout-ms": String(timeoutMs) }),
        },
        tls,
        signal,
      }),
    );
    const responseHeader = new Headers(
      Object.entries(answer.headers).map(([name, value]) => [name, String(value)]),
    );
    if (answer.status !== 200) {
      throw errorFrom(await answer.text());
    }
    return {
      stream: true,
      service: method.parent,
      method,
      header: responseHeader,
      trailer: new Headers(),
      message: messagesOf(method.output, answer),
    };
  }

  return { stream, unary: () => Promise.reject(new TypeError("a unary method has no stream of events")) };
}

async function* messagesOf<O extends DescMessage>(
  desc: O,
  answer: EventStream,
): AsyncGenerator<MessageShape<O>, void> {
  try {
    for (;;) {
      const event = await reached(answer.next());
      if (event === undefined) {
        throw new ConnectError("the stream has no end", Code.Unavailable);
      }
      if (event.type === "error") {
        throw errorFrom(event.data);
      }
      if (event.type === "end") {
        return;
      }
      // As in every generated client: a later server may send fields that it does not know.
      yield fromJsonString(desc, event.data, { ignoreUnknownFields: true });
    }
  } finally {
    answer.close();
  }
}

/** Converts the error of a cut connection as clients do. */
async function reached<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw ConnectError.from(error, Code.Unavailable);
  }
}

function errorFrom(json: string): ConnectError {
  return errorFromJsonBytes(Buffer.from(json), undefined, new ConnectError(json, Code.Unknown));
}

async function onlyOf<T>(values: AsyncIterable<T>): Promise<T> {
  for await (const value of values) {
    return value;
  }
  throw new TypeError("there is no message");
}
