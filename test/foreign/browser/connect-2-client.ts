import { fromJson, type JsonObject, type Message, toJson } from "@bufbuild/protobuf";
import { ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { codeToString } from "@connectrpc/connect/protocol-connect";
import { ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.ts";
import { type BrowserClient, type CallOptions, collectMessages } from "./browser-client.ts";
import { methodNamed } from "./method-named.ts";

interface ConnectOptions {
  readonly headers?: CallOptions["headers"];
  readonly onHeader?: (headers: Headers) => void;
  readonly signal?: AbortSignal;
}
type Calls = Record<string, (message: Message, options: ConnectOptions) => unknown>;

/** Creates a client for connect-es 2.x, which uses descriptors of protobuf-es 2.x for services. */
export function createConnect2Client(transport: Transport): BrowserClient {
  const call = (path: string, request: JsonObject, options: ConnectOptions) => {
    const { parent, localName, input } = methodNamed(path);
    const client = createClient(parent, transport) as unknown as Calls;
    return client[localName]?.(fromJson(input, request), options);
  };

  async function* jsonMessages(path: string, request: JsonObject, options: ConnectOptions) {
    for await (const message of call(path, request, options) as AsyncIterable<Message>) {
      yield toJson(methodNamed(path).output, message) as JsonObject;
    }
  }

  return {
    async unary<O extends object>(path: string, request: JsonObject, options: CallOptions = {}) {
      const answer = await call(path, request, connectOptions(options));
      return toJson(methodNamed(path).output, answer as Message) as O;
    },
    stream(path, request, isLast, options = {}) {
      const leave = new AbortController();
      const messages = jsonMessages(path, request, { ...connectOptions(options), signal: leave.signal });
      return collectMessages(messages, isLast, () => leave.abort());
    },
    failureOf(thrown) {
      const error = ConnectError.from(thrown);
      const reasons = error.findDetails(ErrorInfoSchema).map(({ reason }) => reason);
      return { code: codeToString(error.code), message: error.rawMessage, reasons };
    },
  };
}

function connectOptions({ headers = {}, onHeaders = () => undefined }: CallOptions): ConnectOptions {
  return { headers, onHeader: onHeaders };
}
