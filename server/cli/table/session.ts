import type {
  DescMessage,
  DescMethodServerStreaming,
  DescMethodUnary,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";

/** A response with its headers. */
export interface Answer<Output extends DescMessage> {
  readonly message: MessageShape<Output>;
  readonly header: Headers;
}

/** A stream of responses. Its headers come before the first message. */
export interface Stream<Output extends DescMessage> {
  readonly messages: AsyncIterable<MessageShape<Output>>;
  readonly header: Headers;
}

/** A gateway as a command calls it: through its admin socket, or as a remote user. */
export interface Session {
  /** @throws ConnectError */
  call<Input extends DescMessage, Output extends DescMessage>(
    method: DescMethodUnary<Input, Output>,
    request: MessageInitShape<Input>,
  ): Promise<Answer<Output>>;
  /** @throws ConnectError, also while the messages are read */
  follow<Input extends DescMessage, Output extends DescMessage>(
    method: DescMethodServerStreaming<Input, Output>,
    request: MessageInitShape<Input>,
    signal?: AbortSignal,
  ): Promise<Stream<Output>>;
  /** Returns the same session with another host of the fleet, which the gateway is a hub of. */
  onHost(host: string): Session;
  /** Path of the admin socket; undefined if the gateway is remote. */
  readonly adminSocket: string | undefined;
}

/** Reads the first message of a stream, and ends the stream. @throws Error when the stream ends without one */
export async function firstOf<Input extends DescMessage, Output extends DescMessage>(
  session: Session,
  method: DescMethodServerStreaming<Input, Output>,
  request: MessageInitShape<Input>,
): Promise<MessageShape<Output>> {
  const enough = new AbortController();
  try {
    const { messages } = await session.follow(method, request, enough.signal);
    for await (const message of messages) {
      return message;
    }
  } finally {
    enough.abort();
  }
  throw new Error("the gateway stopped before it answered");
}
