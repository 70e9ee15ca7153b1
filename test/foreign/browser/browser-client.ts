import type { JsonObject } from "@bufbuild/protobuf";

export interface CallOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Receives the headers of the response, if the library exposes them. */
  readonly onHeaders?: (headers: Headers) => void;
}

/** What a library reports of a failed call. */
export interface CallFailure {
  /** In Connect's spelling, for example `already_exists`; empty if the library has none. */
  readonly code: string;
  readonly message: string;
  readonly reasons: readonly string[];
}

/** Reports whether a message is the last one to read; the stream is then cancelled. */
export type IsLast<O> = (message: O) => boolean | Promise<boolean>;

/**
 * A client library in a browser. Methods are named `package.Service/Method` and messages are JSON, so that the same steps run
 * with every library. Each library chooses its own wire format.
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

/** Collects the messages of an iterable until it ends or `isLast` returns true, then calls `leave` to end the call. */
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
