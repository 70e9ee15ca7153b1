import type { DescMethod, Message } from "@bufbuild/protobuf";
import type { InfraError } from "../../../adapters/host/infra-error.ts";
import type { ClientCertificate } from "../protocols/http/client-certificate.ts";
import type { MessageSink } from "../streams/message-sink.ts";
import type { AppliedPlan } from "./applied-plan.ts";
import type { Caller } from "./caller.ts";
import type { CostAccount } from "./cost-account.ts";
import type { MethodRule } from "./method-rule.ts";

/**
 * How a listener authorizes its callers. `login`: by their credentials. `viewer` or `operator`: everyone has that role (`auth:
 * none`). `adminSocket`: only the gateway's own user can open the socket. `agents`: a hub's address for agents, where a client
 * certificate is a host's. `hub`: the connection of an agent to a hub, which names the caller of each request.
 */
export type ListenerAccess = "login" | "viewer" | "operator" | "adminSocket" | "agents" | "hub";

/**
 * Protocol that applies when a request does not show which lvmd protocol its client speaks: `backups` is the branch with backups,
 * `current` is today's lvmd.
 */
export type LvmdProtocol = "backups" | "current";

/** How a call reached the gateway. */
export interface Peer {
  /** IP address of the client; `unix` for a unix socket. */
  readonly address: string;
  /** The `listen[].address` that accepted the connection. */
  readonly listener: string;
  /** Full names of the services that the listener serves; undefined means all. */
  readonly services: ReadonlySet<string> | undefined;
  readonly access: ListenerAccess;
  readonly isTls: boolean;
  /** `host:port` as sent by the client, in lower case; empty if it sent none. */
  readonly authority: string;
  /** The client's verified certificate; undefined if it presented none. */
  readonly certificate: ClientCertificate | undefined;
  readonly httpVersion: "1.0" | "1.1" | "2.0";
  /** Whether errors carry the details that the gateway adds. REST and server-sent events always have them. */
  readonly errorDetails: boolean;
  readonly lvmd: LvmdProtocol;
}

/** One RPC on its way through the chain, over any protocol. Expensive members are created on first use. */
export interface Call {
  readonly method: DescMethod;
  readonly rule: MethodRule;
  readonly protocol: "connect" | "grpc" | "grpc-web" | "rest" | "sse";
  readonly peer: Peer;
  /** Host of the fleet that the call is forwarded to, or made on; undefined if this gateway serves it. */
  readonly fleetHost?: string | undefined;
  /** Notes the host of the fleet on which a hub makes the call, for the log and the audit log. */
  noteFleetHost(host: string): void;
  /** The saved plan that the call applies: it changes exactly what the plan says, or nothing. Undefined for any other call. */
  readonly appliedPlan?: AppliedPlan | undefined;
  /** Sets `appliedPlan`, before the handler begins. */
  limitTo(plan: AppliedPlan): void;
  /** Identifies the call in logs and in the response header `hostplane-request-id`. */
  readonly requestId: string;
  /** The caller; anonymous until `identify` is called. */
  readonly caller: Caller;
  identify(caller: Caller): void;
  /** Charges the cost of the call, including its cost so far, to an account. */
  chargeTo(account: CostAccount): void;
  /**
   * Returns the one message of a unary or server-streaming call. It is read on first use, for at most as long as the call lasts.
   * @throws InfraError when there is none, more than one, or one that cannot be decoded
   */
  input(): Promise<Message>;
  /** Milliseconds until the deadline (the client's, capped by the gateway's); undefined if there is none. */
  timeLeftMs(): number | undefined;
  /**
   * Aborted with an InfraError when the caller leaves, the deadline passes, the gateway stops or `end` is called. Also aborted,
   * without effect, after a stream or a failed call. Created on first use.
   */
  readonly signal: AbortSignal;
  /**
   * Reports the same without a signal: calls back with the error, immediately if the call has already ended with one, but not
   * when the call ends normally. Returns a function that removes the listener.
   */
  onEnd(listener: (error: InfraError) => void): () => void;
  /** Ends the call: aborts `signal` with the error, which is also returned to the caller. */
  end(error: InfraError): void;
  /**
   * Registers an interceptor's listener for the end of its stream. It is called with undefined if the stream completed, with the
   * error that ended it, or with CALLER_LEFT if the reader has left. The stream ends for its reader when all listeners are done;
   * the innermost interceptor's runs first.
   */
  onStreamEnd(listener: StreamEndListener): void;
  /** Calls the listeners of `onStreamEnd`. */
  notifyStreamEnd(error: InfraError | undefined): Promise<void>;
  /** Returns a request header, by lower-case name. */
  header(name: string): string | undefined;
  headerNames(): Iterable<string>;
  /** Returns the query of a Connect GET; undefined for any other request. */
  query(): URLSearchParams | undefined;
  /**
   * Notes the call's resource for the log, e.g. `volumeGroups/vg0/volumes/data`.
   * @throws InfraError of the caller's ceiling when the call is a change that it does not allow
   */
  noteResource(resource: string): void;
  /** Notes that resources are removed from the messages of the stream, which therefore must not bypass it. */
  noteFiltered(): void;
  readonly isFiltered: boolean;
  /** Returns the last value of `noteResource`. */
  resource(): string | undefined;
  /**
   * Notes the durable operation that the call started, found or changed, for the response header `hostplane-operation` (under the
   * condition of `setHeader`), the log and the audit log.
   */
  noteOperation(id: string): void;
  /** Returns the last value of `noteOperation`. */
  operationId(): string | undefined;
  /** Sets a response header. Has no effect after the first message of a stream is sent. */
  setHeader(name: string, value: string): void;
  /**
   * Adds a value to a response header, under the condition of `setHeader`. Each value of `set-cookie` becomes a line of its own.
   */
  appendHeader(name: string, value: string): void;
  /** Adds a value to a trailer, which follows the answer. REST and server-sent events have no trailers. */
  appendTrailer(name: string, value: string): void;
  /**
   * Opens a sink that bypasses the handler's own stream, for messages that many calls receive. A handler opens it after its first
   * `yield`, when the headers and that message are sent, and then waits: what it yields or throws next follows the messages of
   * the sink. The sink writes until the handler has ended. Unavailable where messages are repeated (HTTP/1.1), and over REST.
   * @param maxUnsentBytes the sink writes nothing while more than that is unsent; default 1 MiB
   * @throws TypeError when nothing has been sent, or `isFiltered`
   */
  openSink(maxUnsentBytes?: number): MessageSink;
}

/** Called when a stream is over. */
export type StreamEndListener = (error: InfraError | undefined) => void | Promise<void>;

/** The response header that names the call's operation. */
export const operationHeader = "hostplane-operation";

/** Result of a call: a message, or the messages of a stream. */
export type Output = object | AsyncIterable<object>;

/**
 * An interceptor of the chain that every call passes through. It must call `next` at most once. It may throw instead of
 * rejecting.
 */
export type Interceptor = (call: Call, next: () => Promise<Output>) => Promise<Output>;
