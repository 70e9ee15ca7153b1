import type { DescMethod, Message } from "@bufbuild/protobuf";
import type { Call } from "./call.ts";
import type { RequestFacts } from "./request-facts.ts";
import type { Codec } from "./shared-message.ts";

/** What carries a call: a request as its protocol was read, and the head of its answer. */
export interface Exchange {
  readonly method: DescMethod;
  readonly protocol: Call["protocol"];
  /** How the messages of the answer are encoded. */
  readonly codec: Codec;
  readonly facts: RequestFacts;
  /** A request header, by lower-case name. */
  header(name: string): string | undefined;
  headerNames(): Iterable<string>;
  /** The query of a Connect GET; undefined for any other request. */
  query(): URLSearchParams | undefined;
  /** Sets a response header; without effect once the first message of a stream is out. */
  setHeader(name: string, value: string): void;
  appendHeader(name: string, value: string): void;
  appendTrailer(name: string, value: string): void;
  /** Milliseconds until the deadline that the client has set; undefined when it has set none. */
  timeLeftMs(): number | undefined;
  /**
   * Reads the one message of a unary or server-streaming call. Called at most once.
   * @throws InfraError, ConnectError
   */
  readInput(): Promise<Message>;
}
