import type { DescMethod, Message } from "@bufbuild/protobuf";
import type { Codec } from "../streams/shared-message.ts";
import type { Call } from "./call.ts";
import type { RequestFacts } from "./request-facts.ts";

/** Carries a call: a request decoded from its protocol, and the head of its answer. */
export interface Exchange {
  readonly method: DescMethod;
  readonly protocol: Call["protocol"];
  /** Encoding of the answer's messages. */
  readonly codec: Codec;
  readonly facts: RequestFacts;
  /** Returns a request header, by lower-case name. */
  header(name: string): string | undefined;
  headerNames(): Iterable<string>;
  /** Sets a response header. Has no effect after the first message of a stream is sent. */
  setHeader(name: string, value: string): void;
  appendHeader(name: string, value: string): void;
  appendTrailer(name: string, value: string): void;
  /** Returns the milliseconds until the client's deadline; undefined if it has none. */
  timeLeftMs(): number | undefined;
  /**
   * Reads the one message of a unary or server-streaming call. Called at most once.
   * @throws InfraError, ConnectError
   */
  readInput(): Promise<Message>;
}
