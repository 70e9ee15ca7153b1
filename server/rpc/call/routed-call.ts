import type { DescMethod, Message } from "@bufbuild/protobuf";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../adapters/host/reasons.ts";
import { infraErrorFrom } from "../errors/connect-error.ts";
import { rpcReasons } from "../reasons.ts";
import { type ClosableSink, createMessageSink, type MessageSink } from "../streams/message-sink.ts";
import type { AppliedPlan } from "./applied-plan.ts";
import { type Call, operationHeader, type Peer, type StreamEndListener } from "./call.ts";
import { anonymous, type Caller } from "./caller.ts";
import type { CostAccount } from "./cost-account.ts";
import type { Exchange } from "./exchange.ts";
import type { Charged } from "./loop-time.ts";
import type { MethodRule } from "./method-rule.ts";
import type { OpenCall, OpenCalls } from "./open-calls.ts";
import type { RingElement } from "./ring.ts";
import { requestTimeoutMs } from "./timeouts.ts";
import { deadlinePassed, untilCallEnds } from "./until-call-ends.ts";

/** The gateway's limits for a call. */
export interface CallLimits {
  /** The longest time of a unary call, whatever deadline the client sets. Streams have no limit. */
  readonly maxDeadlineMs: number;
  /** The largest message written, in bytes. */
  readonly maxMessageBytes: number;
  /** Has the call until it is closed. */
  readonly openCalls: OpenCalls;
}

/** How much may be buffered for a slow client, and for how long after its call has ended. */
const maxUnsentBytesDefault = 1024 * 1024;
const sinkLingerMs = 30_000;

/** Ends a call that is over. It is shared, because a stack trace for each would cost more than the call. */
const callOver = new InfraError(hostReasons.CALLER_LEFT, "the call is over");

/**
 * The router's implementation of a call. It is a class so that its signal can be created on demand: V8 allocates the accessor of
 * an object literal in the old generation, where it keeps the call alive through every scavenge until a full collection.
 */
export class RoutedCall implements Call, OpenCall, Charged {
  readonly method: DescMethod;
  readonly rule: MethodRule;
  readonly protocol: Call["protocol"];
  readonly peer: Peer;
  fleetHost: string | undefined;
  appliedPlan: AppliedPlan | undefined;
  readonly requestId: string;
  caller: Caller = anonymous;
  isFiltered = false;
  /** Neighbours in the ring of open calls. */
  previous: RingElement | undefined;
  next: RingElement | undefined;
  readonly #exchange: Exchange;
  readonly #limits: CallLimits;
  /** When the gateway's own time limit is reached, on the clock of performance.now(); undefined for a stream and for `appliedPlan`. */
  readonly capAtMs: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #account: CostAccount | undefined;
  /** Time that is not charged to an account yet. */
  #spentMs = 0;
  #input: Promise<Message> | undefined;
  #sink: ClosableSink | undefined;
  #resource: string | undefined;
  #operationId: string | undefined;
  #error: InfraError | undefined;
  #ending: AbortController | undefined;
  #listeners: Set<(error: InfraError) => void> | undefined;
  #streamEndListeners: StreamEndListener[] | undefined;

  constructor(exchange: Exchange, rule: MethodRule, limits: CallLimits) {
    const { method, protocol, facts } = exchange;
    this.method = method;
    this.rule = rule;
    this.protocol = protocol;
    this.peer = facts.peer;
    this.fleetHost = facts.fleetHost;
    this.appliedPlan = facts.appliedPlan;
    this.requestId = facts.requestId;
    this.#exchange = exchange;
    this.#limits = limits;
    const isCapped = method.methodKind === "unary" && facts.appliedPlan === undefined;
    this.capAtMs = isCapped ? performance.now() + limits.maxDeadlineMs : undefined;
  }

  /** Opens the call: from now on it ends at its deadline, and when the gateway stops. */
  open(): void {
    const leftMs = this.#exchange.timeLeftMs();
    if (leftMs !== undefined) {
      this.#timer = setTimeout(() => this.end(deadlinePassed()), Math.max(leftMs, 0));
    }
    this.#limits.openCalls.add(this);
  }

  identify(caller: Caller): void {
    this.caller = caller;
    if (caller.credential !== "none") {
      this.#exchange.facts.usage?.identified();
    }
  }

  limitTo(plan: AppliedPlan): void {
    this.appliedPlan = plan;
  }

  chargeTo(account: CostAccount): void {
    this.#account = account;
    account.spend(this.#spentMs);
    this.#spentMs = 0;
    this.#exchange.facts.usage?.chargeTo(account);
  }

  spend(cpuMs: number): void {
    if (this.#account === undefined) {
      this.#spentMs += cpuMs;
    } else {
      this.#account.spend(cpuMs);
    }
  }

  /** Counts a message of a request stream. @throws InfraError CALLER_LIMIT */
  countMessage(): void {
    this.#exchange.facts.usage?.countMessage();
    this.#account?.countMessage();
  }

  input(): Promise<Message> {
    this.#input ??= this.#readInput();
    return this.#input;
  }

  timeLeftMs(): number | undefined {
    const clientsMs = this.#exchange.timeLeftMs();
    const ownMs = this.capAtMs === undefined ? undefined : this.capAtMs - performance.now();
    return clientsMs === undefined ? ownMs : Math.min(clientsMs, ownMs ?? clientsMs);
  }

  get signal(): AbortSignal {
    if (this.#ending === undefined) {
      this.#ending = new AbortController();
      if (this.#error !== undefined) {
        this.#ending.abort(this.#error);
      }
    }
    return this.#ending.signal;
  }

  end(error: InfraError): void {
    if (this.#error !== undefined) {
      return;
    }
    this.#error = error;
    this.#ending?.abort(error);
    const listeners = this.#listeners;
    this.#listeners = undefined;
    for (const listener of listeners ?? []) {
      listener(error);
    }
  }

  /** Ends the call with the signal's reason when the signal is aborted. */
  endWith(signal: AbortSignal): void {
    const end = () => this.end(infraErrorFrom(signal.reason));
    if (signal.aborted) {
      end();
    } else {
      signal.addEventListener("abort", end, { once: true });
    }
  }

  onEnd(listener: (error: InfraError) => void): () => void {
    if (this.#error !== undefined) {
      listener(this.#error);
      return () => {};
    }
    this.#listeners ??= new Set();
    this.#listeners.add(listener);
    return () => void this.#listeners?.delete(listener);
  }

  onStreamEnd(listener: StreamEndListener): void {
    this.#streamEndListeners ??= [];
    this.#streamEndListeners.push(listener);
  }

  async notifyStreamEnd(error: InfraError | undefined): Promise<void> {
    for (const listener of this.#streamEndListeners ?? []) {
      await listener(error);
    }
  }

  /** Reads the request. Has a time limit, so that a client cannot keep a call open by never sending it. */
  #readInput(): Promise<Message> {
    const input = untilCallEnds(this, this.#exchange.readInput());
    if ((this.timeLeftMs() ?? Number.POSITIVE_INFINITY) <= requestTimeoutMs) {
      return input;
    }
    const timer = setTimeout(() => this.end(deadlinePassed()), requestTimeoutMs);
    return input.finally(() => clearTimeout(timer));
  }

  /**
   * Closes a call that is over: closes its sink and aborts its signal, without notifying `onEnd` listeners.
   * @param isAnswered whether a unary call has succeeded. Nothing can listen for an abort then, so it is skipped: it takes longer
   * than most calls
   */
  close(isAnswered = false): void {
    this.#sink?.close();
    this.#account?.close();
    this.#limits.openCalls.delete(this);
    clearTimeout(this.#timer);
    this.#listeners = undefined;
    if (isAnswered) {
      this.#error ??= callOver;
    } else {
      this.end(callOver);
    }
  }

  header(name: string): string | undefined {
    return this.#exchange.header(name);
  }

  headerNames(): Iterable<string> {
    return this.#exchange.headerNames();
  }

  query(): URLSearchParams | undefined {
    return this.#exchange.facts.query;
  }

  noteFleetHost(host: string): void {
    this.fleetHost = host;
  }

  noteResource(name: string): void {
    if (this.rule.mutation) {
      this.caller.ceiling?.assertResource(name);
    }
    this.#resource = name;
  }

  noteFiltered(): void {
    this.isFiltered = true;
  }

  resource(): string | undefined {
    return this.#resource;
  }

  noteOperation(id: string): void {
    this.#operationId = id;
    this.#exchange.setHeader(operationHeader, id);
  }

  operationId(): string | undefined {
    return this.#operationId;
  }

  setHeader(name: string, value: string): void {
    this.#exchange.setHeader(name, value);
  }

  appendHeader(name: string, value: string): void {
    this.#exchange.appendHeader(name, value);
  }

  appendTrailer(name: string, value: string): void {
    this.#exchange.appendTrailer(name, value);
  }

  openSink(maxUnsentBytes = maxUnsentBytesDefault): MessageSink {
    const { facts, protocol, codec, method } = this.#exchange;
    const { response, onSinkWrite, usage } = facts;
    if (protocol === "rest") {
      throw new InfraError(rpcReasons.NOT_BUILT, `${method.name} cannot be streamed over REST`);
    }
    if (response?.headersSent !== true || method.methodKind === "unary") {
      throw new TypeError(`${method.name} must send a message before it opens a sink`);
    }
    if (this.isFiltered) {
      throw new TypeError(`the messages of ${method.name} are filtered`);
    }
    const { maxMessageBytes } = this.#limits;
    const limits = { maxUnsentBytes, maxMessageBytes, lingerMs: sinkLingerMs };
    const end = (error: InfraError) => this.end(error);
    this.#sink ??= createMessageSink(response, codec, limits, end, onSinkWrite, () => usage?.onSent());
    return this.#sink;
  }
}
