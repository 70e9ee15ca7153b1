import {
  create,
  type DescMethod,
  fromBinary,
  fromJson,
  type JsonObject,
  type Message,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import { base64Decode } from "@bufbuild/protobuf/wire";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { codeToString } from "@connectrpc/connect/protocol-connect";
import { GrpcWebClientBase, MethodDescriptor, type RpcError } from "grpc-web";
import { ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.ts";
import { StatusSchema } from "../../../gen/google/rpc/status_pb.ts";
import type { BrowserClient, CallOptions, IsLast } from "./browser-client.ts";
import { methodNamed } from "./method-named.ts";

/** Mode of Google's client. Only text mode, which uses base64, delivers stream messages as they arrive. */
export type Format = "binary" | "text";

/** Creates Google's client, with the descriptors that protoc-gen-grpc-web would generate and messages of protobuf-es. */
export function createGoogleClient(baseUrl: string, format: Format, token: string): BrowserClient {
  const client = new GrpcWebClientBase({ format });
  const metadata = token === "" ? {} : { authorization: `Bearer ${token}` };
  return {
    async unary<O extends object>(path: string, request: JsonObject, { headers = {} }: CallOptions = {}) {
      const message = fromJson(methodNamed(path).input, request);
      const call = client.unaryCall(
        `${baseUrl}/${path}`,
        message,
        { ...metadata, ...headers },
        descriptorOf(path),
      );
      return toJson(methodNamed(path).output, await call) as O;
    },
    stream<O extends object>(
      path: string,
      request: JsonObject,
      isLast: IsLast<O> = () => false,
      { headers = {} }: CallOptions = {},
    ) {
      const { promise, resolve, reject } = Promise.withResolvers<readonly O[]>();
      const message = fromJson(methodNamed(path).input, request);
      const call = client.serverStreaming(
        `${baseUrl}/${path}`,
        message,
        { ...metadata, ...headers },
        descriptorOf(path),
      );
      const messages: O[] = [];
      call.on("data", async (next) => {
        const json = toJson(methodNamed(path).output, next) as O;
        messages.push(json);
        if (await isLast(json)) {
          call.cancel();
          resolve(messages);
        }
      });
      call.on("error", reject);
      call.on("end", () => resolve(messages));
      return promise;
    },
    failureOf(thrown) {
      const { code, message, metadata: trailers = {} } = thrown as RpcError;
      return {
        code: codeToString(code as number),
        message,
        reasons: reasonsOf(trailers["grpc-status-details-bin"]),
      };
    },
  };
}

function descriptorOf(path: string): MethodDescriptor<Message, Message> {
  const { methodKind, input, output }: DescMethod = methodNamed(path);
  return new MethodDescriptor(
    `/${path}`,
    methodKind === "unary" ? "unary" : "server_streaming",
    Object as never,
    Object as never,
    (message: Message) => toBinary(input, message),
    (bytes: Uint8Array) => fromBinary(output, bytes),
  );
}

/** Returns the reasons in a base64-encoded `google.rpc.Status`. */
function reasonsOf(details: string | undefined): readonly string[] {
  const status =
    details === undefined ? create(StatusSchema) : fromBinary(StatusSchema, base64Decode(details));
  return status.details.flatMap((detail) => anyUnpack(detail, ErrorInfoSchema)?.reason ?? []);
}
