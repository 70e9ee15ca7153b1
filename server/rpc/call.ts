import type { DescMethod, Message } from "@bufbuild/protobuf";
import type { InfraError } from "../../adapters/host/infra-error.ts";
import type { Caller } from "./caller.ts";
import type { CostAccount } from "./cost-account.ts";
import type { DirectSink } from "./direct-sink.ts";
import type { ClientCertificate } from "./listener/client-certificate.ts";
import type { MethodRule } from "./method-rule.ts";
import { watchedStream } from "./watched-stream.ts";

/**
 * What a listener asks of its callers: `login`; nothing, as everybody is a `viewer` or an `operator` there (`auth:
 * none`); or nothing, as only the gateway's own user can open the `adminSocket`.
 */
export type ListenerAccess = "login" | "viewer" | "operator" | "adminSocket";

/**
 * Which rules hold where a request does not tell which protocol of lvmd its client speaks: those of the branch with backups, or
 * today's.
 */
export type LvmdProtocol = "backups" | "current";

/** How a call reached the gateway. */
export interface Peer {
  /** IP address of the client; `unix` for a unix socket. */
  readonly address: string;
  /** The `listen[].address` that accepted the connection. */
  readonly listener: string;
  /** Full names of the services that the listener serves; undefined when all. */
  readonly services: ReadonlySet<string> | undefined;
  readonly access: ListenerAccess;
  readonly isTls: boolean;
  /** `host:port` as the client has named it, in lower case; empty when it has not. */
  readonly authority: string;
  /** The certificate the client has shown, verified; undefined when it has shown none. */
  readonly certificate: ClientCertificate | undefined;
  readonly httpVersion: "1.0" | "1.1" | "2.0";
  /** Whether errors carry the details that the gateway adds to them; REST and server-sent events always have them. */
  readonly errorDetails: boolean;
  readonly lvmd: LvmdProtocol;
}

/**
 * One RPC on its way through the chain, whichever protocol carries it. Everything that costs something is
 * made when it is first asked for.
 */
export interface Call {
  readonly method: DescMethod;
  readonly rule: MethodRule;
  readonly protocol: "connect" | "grpc" | "grpc-web" | "rest" | "sse";
  readonly peer: Peer;
  /** Names the call in logs and in the header `hostplane-request-id` of its answer. */
  readonly requestId: string;
  /** Who calls; anonymous until the call is told otherwise by `identify`. */
  readonly caller: Caller;
  identify(caller: Caller): void;
  /** Charges what the call costs, and has cost so far, to an account. */
  chargeTo(account: CostAccount): void;
  /**
   * The one message of a unary or server-streaming call, read when it is first asked for, and no longer than the
   * call lasts.
   * @throws InfraError when there is none, more than one, or one that cannot be decoded
   */
  input(): Promise<Message>;
  /** Milliseconds until the deadline (the client's, capped by the gateway's); undefined when there is none. */
  timeLeftMs(): number | undefined;
  /**
   * Aborted when the caller leaves, the deadline passes, the gateway stops or `end` is called, with the InfraError
   * that says which. Also aborted, harmlessly, after a stream, or a call that
   * has failed. It is made when it is first asked for.
   */
  readonly signal: AbortSignal;
  /**
   * Tells of the same without a signal: calls back with the error, at once if it is there already, but not when the call has
   * simply ended. Returns what takes the listener back.
   */
  onEnd(listener: (error: InfraError) => void): () => void;
  /** Ends the call: aborts `signal` with the error, which becomes what the caller is told. */
  end(error: InfraError): void;
  /**
   * Has a link told when the stream that it hands on is over: with nothing when that has come to its end, with what it was
   * ended by, or with CALLER_LEFT when nobody reads it any more. The stream ends for its reader when all of them are done, the
   * innermost link's first.
   */
  onOver(listener: OverListener): void;
  /** Tells them. */
  over(error: InfraError | undefined): Promise<void>;
  /** A request header, by lower-case name. */
  header(name: string): string | undefined;
  headerNames(): Iterable<string>;
  /** The query of a Connect GET; undefined for any other request. */
  query(): URLSearchParams | undefined;
  /** Says what the call is about, e.g. `volumeGroups/vg0/volumes/data`, for the log. */
  noteResource(resource: string): void;
  /** What `noteResource` was last told. */
  resource(): string | undefined;
  /**
   * Says which durable operation the call has begun, found or changed: in the header `hostplane-operation` of its answer
   * (under the condition of `setHeader`), the log and the audit log.
   */
  noteOperation(id: string): void;
  /** What `noteOperation` was last told. */
  operationId(): string | undefined;
  /** Sets a response header; without effect once the first message of a stream is out. */
  setHeader(name: string, value: string): void;
  /** Adds another value of a response header, under the condition of `setHeader`; each of `set-cookie` is a line of its own. */
  appendHeader(name: string, value: string): void;
  /** Adds a value of a trailer, which comes behind the answer. Not over REST and server-sent events, which have none. */
  appendTrailer(name: string, value: string): void;
  /**
   * A way past the handler's own stream, for messages that many calls get alike. A handler asks for it behind its first
   * `yield`, when headers and that message are out, and then waits: what it yields or throws next comes behind what the
   * sink has written. The sink writes until the handler has ended. Not where messages are repeated (HTTP/1.1), nor over REST.
   * @param maxUnsentBytes with more than that unsent, the sink writes nothing; 1 MiB by default
   * @throws TypeError when nothing is out
   */
  openSink(maxUnsentBytes?: number): DirectSink;
}

/** Told that a stream is over. */
export type OverListener = (error: InfraError | undefined) => void | Promise<void>;

/** The header of an answer that names the operation which stands behind it. */
export const operationHeader = "hostplane-operation";

/** What a call results in: a message, or the messages of a stream. */
export type Output = object | AsyncIterable<object>;

/** A link of the chain that every call passes through. It must call `next` at most once; it may throw instead of rejecting. */
export type Around = (call: Call, next: () => Promise<Output>) => Promise<Output>;

/**
 * Runs `last` inside all links, the first link outermost. Rejects with whatever a link throws. One generator around a stream
 * stands for all links that are to know its end: a generator of each would take time for every message, and memory at rest.
 */
export function runChain(links: readonly Around[], call: Call, last: () => Promise<Output>): Promise<Output> {
  const step = (index: number): Promise<Output> => {
    const link = links[index];
    return link === undefined ? last() : link(call, () => step(index + 1));
  };
  try {
    const output = step(0);
    return call.method.methodKind === "unary" ? output : output.then((stream) => toldOfItsEnd(stream, call));
  } catch (thrown) {
    return Promise.reject(thrown);
  }
}

function toldOfItsEnd(output: Output, call: Call): Output {
  return Symbol.asyncIterator in output ? watchedStream(output, (error) => call.over(error)) : output;
}
