import type { JsonObject } from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import { codeToString } from "@connectrpc/connect/protocol-connect";
import { ConnectError, createClient } from "connect-1";
import { ErrorInfo } from "connect-1-gen/google/rpc/error_details_pb.js";
import { OperationsService } from "connect-1-gen/operations/v1/operations_connect.js";
import { LVService, VGService } from "connect-1-gen/proto/lvmd_connect.js";
import { PublicAPI } from "connect-1-gen/v1alpha/api_connect.js";
import { type BrowserClient, type CallOptions, collectMessages } from "./browser-client.ts";

const services = [LVService, VGService, PublicAPI, OperationsService];

/** Creates a client for connect-es 1.x, which uses classes of protobuf-es 1.x for services and messages. */
export function createConnect1Client(transport: Transport): BrowserClient {
  const call = (path: string, request: JsonObject, options: object) => {
    const [typeName, name] = path.split("/");
    const service = services.find((known) => known.typeName === typeName);
    const [localName, method] =
      Object.entries(service?.methods ?? {}).find(([, known]) => known.name === name) ?? [];
    if (service === undefined || localName === undefined || method === undefined) {
      throw new Error(`the page has no code for ${path}`);
    }
    return createClient(service, transport)[localName]?.(method.I.fromJson(request), options);
  };

  async function* jsonMessages(path: string, request: JsonObject, options: object) {
    for await (const message of call(path, request, options) as AsyncIterable<JsonMessage>) {
      yield message.toJson();
    }
  }

  return {
    async unary<O extends object>(path: string, request: JsonObject, options: CallOptions = {}) {
      const { headers = {}, onHeaders = () => undefined } = options;
      const answer = (await call(path, request, { headers, onHeader: onHeaders })) as JsonMessage;
      return answer.toJson() as O;
    },
    stream(path, request, isLast, { headers = {} } = {}) {
      const leave = new AbortController();
      const messages = jsonMessages(path, request, { headers, signal: leave.signal });
      return collectMessages(messages, isLast, () => leave.abort());
    },
    failureOf(thrown) {
      const error = ConnectError.from(thrown);
      const reasons = error.findDetails(ErrorInfo).map(({ reason }) => reason);
      return { code: codeToString(error.code), message: error.rawMessage, reasons };
    },
  };
}

interface JsonMessage {
  toJson(): JsonObject;
}
