import type { JsonObject } from "@bufbuild/protobuf";

export interface CallOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Receives the headers of the answer, where the library shows them. */
  readonly onHeaders?: (headers: Headers) => void;
}

/** What a library reports of a failed call. */
export interface CallFailure {
  /** As Connect spells it, for example `already_exists`; empty where the library has none. */
  readonly code: string;
  readonly message: string;
  readonly reasons: readonly string[];
}

/** Whether a message is the last one that the caller reads; the stream is cancelled then. */
export type IsLast<O> = (message: O) => boolean | Promise<boolean>;

/**
 * A client library in a browser. Methods are named `package.Service/Method`, and messages are JSON, so that the same steps
 * run through every library; what goes over the wire is the library's own choice.
 */
export interface BrowserClient {
  unary<O extends object>(method: string, request: JsonObject, options?: CallOptions): Promise<O>;
  /** Collects the messages of a stream until it ends or `isLast` returns true. */
  stream<O extends object>(
    method: string,
    request: JsonObject,
    isLast?: IsLast<O>,
    options?: CallOptions,
  ): Promise<readonly O[]>;
  failureOf(thrown: unknown): CallFailure;
}

/** Collects the messages of an iterable until it ends or `isLast` returns true; `leave` then ends the call. */
export async function collectMessages<O extends object>(
  messages: AsyncIterable<object>,
  isLast: IsLast<O> = () => false,
  leave: () => void = () => undefined,
): Promise<readonly O[]> {
  const collected: O[] = [];
  for await (const message of messages) {
    collected.push(message as O);
    if (await isLast(message as O)) {
      leave();
      break;
    }
  }
  return collected;
}
