import {
  create,
  type DescMessage,
  type DescMethod,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { GrpcWebClientBase, MethodDescriptor, type RpcError } from "grpc-web";

/** Mode of Google's client. Only in text mode, which is base64, it delivers messages of a stream as they arrive. */
export type Format = "binary" | "text";

/** The descriptor that protoc-gen-grpc-web would generate for a method, with messages of protobuf-es. */
function descriptorOf<I extends DescMessage, O extends DescMessage>(
  method: DescMethod & { input: I; output: O },
) {
  return new MethodDescriptor<MessageShape<I>, MessageShape<O>>(
    pathOf(method),
    method.methodKind === "unary" ? "unary" : "server_streaming",
    Object as never,
    Object as never,
    (message: MessageShape<I>) => toBinary(method.input, message),
    (bytes: Uint8Array) => fromBinary(method.output, bytes),
  );
}

function pathOf({ parent, name }: DescMethod): string {
  return `/${parent.typeName}/${name}`;
}

export function createGoogleClient(baseUrl: string, format: Format) {
  const client = new GrpcWebClientBase({ format });
  const urlOf = (method: DescMethod) => `${baseUrl}${pathOf(method)}`;
  return {
    /** @throws RpcError */
    unary<I extends DescMessage, O extends DescMessage>(
      method: DescMethod & { input: I; output: O },
      request: MessageInitShape<I>,
      metadata: Record<string, string> = {},
    ): Promise<MessageShape<O>> {
      const message = create(method.input, request);
      return client.unaryCall(urlOf(method), message, metadata, descriptorOf(method));
    },

    /**
     * Collects the messages of a stream until it ends.
     * @param isLast called for each message; true cancels the stream
     * @throws RpcError
     */
    stream<I extends DescMessage, O extends DescMessage>(
      method: DescMethod & { input: I; output: O },
      request: MessageInitShape<I>,
      isLast: (message: MessageShape<O>) => boolean | Promise<boolean> = () => false,
    ): Promise<readonly MessageShape<O>[]> {
      const { promise, resolve, reject } = Promise.withResolvers<readonly MessageShape<O>[]>();
      const messages: MessageShape<O>[] = [];
      const message = create(method.input, request);
      const stream = client.serverStreaming(urlOf(method), message, {}, descriptorOf(method));
      stream.on("data", async (next) => {
        messages.push(next);
        if (await isLast(next)) {
          stream.cancel();
          resolve(messages);
        }
      });
      stream.on("error", (error: RpcError) => reject(error));
      stream.on("end", () => resolve(messages));
      return promise;
    },
  };
}
