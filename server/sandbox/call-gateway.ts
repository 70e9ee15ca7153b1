import { once } from "node:events";
import { type IncomingMessage, request as sendRequest } from "node:http";
import { buffer, json } from "node:stream/consumers";
import {
  create,
  type DescMethod,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  fromJson,
  type MessageInitShape,
  type MessageShape,
  toJsonString,
} from "@bufbuild/protobuf";

/**
 * Calls the gateway by Connect with JSON. Not with connect-es, whose clients use the global `Headers`: the first one loads Node's
 * `fetch`, which takes 15 MB of memory.
 */
export interface CallGateway {
  /** Returns the response. @throws Error with the message of the gateway's error */
  unary<M extends DescMethodUnary>(
    method: M,
    request: MessageInitShape<M["input"]>,
  ): Promise<MessageShape<M["output"]>>;
  /** Waits until the stream ends, and ignores its messages. @throws Error with the message of the gateway's error */
  untilEnd<M extends DescMethodServerStreaming>(
    method: M,
    request: MessageInitShape<M["input"]>,
  ): Promise<void>;
}

/** Length of what precedes each message of a stream: a byte of flags, and the length of the message. */
const prefixBytes = 5;
/** Flag of the last message of a stream, which has the error. */
const endFlag = 2;

/**
 * @param socketPath the gateway's admin socket
 * @param signal ends all calls
 */
export function createCallGateway(socketPath: string, signal: AbortSignal): CallGateway {
  async function send(method: DescMethod, type: string, body: Buffer): Promise<IncomingMessage> {
    const path = `/${method.parent.typeName}/${method.name}`;
    const headers = { "content-type": type, "connect-protocol-version": "1" };
    const sent = sendRequest({ socketPath, method: "POST", path, headers, signal }).end(body);
    const [response] = await once(sent, "response");
    return response;
  }

  return {
    async unary(method, request) {
      const response = await send(method, "application/json", jsonOf(method, request));
      const body = (await json(response)) as Parameters<typeof fromJson>[1];
      if (response.statusCode !== 200) {
        throw new Error(messageOf(body));
      }
      // The gateway serves both lvmd protocols in one: its responses have fields of the other one.
      return fromJson(method.output, body, { ignoreUnknownFields: true }) as never;
    },
    async untilEnd(method, request) {
      const message = jsonOf(method, request);
      const prefix = Buffer.alloc(prefixBytes);
      prefix.writeUInt32BE(message.length, 1);
      const type = "application/connect+json";
      const body = await buffer(await send(method, type, Buffer.concat([prefix, message])));
      for (let at = 0; at + prefixBytes <= body.length; ) {
        const end = at + prefixBytes + body.readUInt32BE(at + 1);
        const { error } =
          body[at] === endFlag ? JSON.parse(body.toString("utf8", at + prefixBytes, end)) : {};
        if (error !== undefined) {
          throw new Error(messageOf(error));
        }
        at = end;
      }
    },
  };
}

function jsonOf<M extends DescMethod>(method: M, request: MessageInitShape<M["input"]>): Buffer {
  return Buffer.from(toJsonString(method.input, create(method.input, request)));
}

function messageOf(error: unknown): string {
  const message = error instanceof Object && "message" in error ? error.message : undefined;
  return typeof message === "string" ? message : "the gateway answered without a reason";
}
