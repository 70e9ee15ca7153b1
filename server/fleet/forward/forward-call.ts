import { constants } from "node:http2";
import type { DescMethod } from "@bufbuild/protobuf";
import { type Effect, InfraError } from "../../../adapters/host/infra-error.ts";
import type { Call, Output } from "../../rpc/call/call.ts";
import { runInterceptors } from "../../rpc/call/call-path.ts";
import { callerLeft } from "../../rpc/call/caller-left.ts";
import type { ForwardedInterceptorsFor } from "../../rpc/call/method-interceptors.ts";
import { methodPathOf } from "../../rpc/call/method-rule.ts";
import type { RequestFacts } from "../../rpc/call/request-facts.ts";
import { type CallLimits, RoutedCall } from "../../rpc/call/routed-call.ts";
import { untilCallEnds } from "../../rpc/call/until-call-ends.ts";
import { infraErrorFrom } from "../../rpc/errors/connect-error.ts";
import { wireErrorFrom } from "../../rpc/errors/wire-error.ts";
import {
  type AnswerHeaders,
  type HttpRequest,
  type HttpResponse,
  isGone,
} from "../../rpc/protocols/http/http-exchange.ts";
import { rpcReasons } from "../../rpc/reasons.ts";
import type { HubOfCaller } from "../caller/hub-caller-of.ts";
import { answerBroken } from "../host-errors.ts";
import type { HostLink } from "../links/host-link.ts";
import { createForwardedExchange } from "./forwarded-exchange.ts";
import { createHostAnswer, type HostAnswer } from "./host-answer.ts";
import { watchHostStream } from "./host-stream.ts";
import { refuseForwarded } from "./refuse-forwarded.ts";
import { errorOfHead, isReported, noteReported } from "./reported-outcome.ts";
import { clientDeadlineOf, requestHeadersOf } from "./request-headers.ts";
import { sendRequest } from "./send-request.ts";
import type { Target } from "./targets.ts";
import type { AccessWatch } from "./watch-access.ts";
import type { WireForm } from "./wire-form.ts";

export interface ForwardOptions {
  readonly interceptorsFor: ForwardedInterceptorsFor;
  readonly limits: CallLimits;
  readonly hub: HubOfCaller;
}

/** The options, and what all forwarded calls share. */
export interface ForwardParts extends ForwardOptions {
  readonly accessWatch: AccessWatch;
}

/** A call to forward, as it has arrived. */
export interface ArrivedCall {
  readonly target: Target;
  readonly wire: WireForm;
  /** Path and query on the host. */
  readonly url: string;
  /** Returns the connection of the host. @throws InfraError when there is none, or no such host for the caller */
  readonly link: (call: Call) => HostLink;
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  readonly facts: RequestFacts;
  /** Headers that this hub gives every answer. */
  readonly headers: AnswerHeaders;
}

/**
 * Forwards a call to a host: authorizes, limits, logs and audits it as a call of this gateway, with the host in place of the
 * handler. Resolves when the answer is handed over or the client has left.
 * @throws only if writing itself fails
 */
export async function forwardCall(arrived: ArrivedCall, options: ForwardParts): Promise<void> {
  const { target, wire, request, response, facts, headers } = arrived;
  const { method, rule, isInContract } = target;
  const deadline = clientDeadlineOf(request, wire.protocol);
  const exchange = createForwardedExchange(method, wire, request, facts, deadline, headers);
  const call = new RoutedCall(exchange, rule, options.limits);
  call.open();
  response.once("close", () => call.end(callerLeft));
  const passage = createPassage(arrived, call, options);
  const isUnary = method.methodKind === "unary";
  try {
    const interceptors = options.interceptorsFor(method, rule, isInContract);
    const forward = isUnary ? passage.untilHead : passage.asStream;
    await passedInAnswer(async () => readAll(await runInterceptors(interceptors, call, forward)));
    if (isUnary) {
      await passedInAnswer(passage.pass);
    }
  } catch (thrown) {
    if (!isGone(response)) {
      writeError(thrown);
    }
  } finally {
    passage.close();
    call.close();
  }

  function writeError(thrown: unknown): void {
    const effect: Effect = passage.hasBegun() ? "possible" : "none";
    const error = isInContract ? infraErrorFrom(thrown) : explainUnknown(infraErrorFrom(thrown), method);
    const known = isUnary && rule.mutation && error.effect === undefined ? error.withEffect(effect) : error;
    if (response.headersSent) {
      passage.endWithError(known);
    } else {
      refuseForwarded(wire, request, response, known, headers, facts.peer.errorDetails);
    }
  }
}

/** Returns the error of an unknown method for callers who may not call one that only the host may know. */
function explainUnknown(error: InfraError, method: DescMethod): InfraError {
  if (error.reason !== rpcReasons.ROLE_REQUIRED.id) {
    return error;
  }
  const message = `unknown method ${methodPathOf(method)}; only admins may call methods that the hub does not know`;
  return new InfraError(rpcReasons.METHOD_NOT_FOUND, message);
}

/** Completes the work. An error that the host has reported is in its answer, which is passed like any other. */
async function passedInAnswer(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (thrown) {
    if (!isReported(thrown)) {
      throw thrown;
    }
  }
}

/** Waits until an output without messages has ended. */
async function readAll(output: Output): Promise<void> {
  if (Symbol.asyncIterator in output) {
    for await (const _nothing of output) {
      // `HostAnswer.pass` passes the bytes of the answer.
    }
  }
}

/** A call's way to its host and back. */
interface Passage {
  /** Sends the request and waits for the head of the answer. @throws InfraError also the one that the host reports */
  untilHead(): Promise<object>;
  /** Sends the request. The output has no messages, and ends when the answer has been passed. */
  asStream(): Promise<AsyncIterable<object>>;
  /** Passes the answer. @throws InfraError also the one that the host reports */
  pass(): Promise<void>;
  /** Whether the host may have got the request. */
  hasBegun(): boolean;
  endWithError(error: InfraError): void;
  /** Ends whatever is still open at the host. */
  close(): void;
}

function createPassage(arrived: ArrivedCall, call: RoutedCall, { hub, accessWatch }: ForwardParts): Passage {
  const { wire, request, response, headers } = arrived;
  let begun: ReturnType<typeof begin> | undefined;
  let answer: HostAnswer | undefined;

  function begin() {
    const link = arrived.link(call);
    call.noteFleetHost(link.host);
    const { host } = link;
    const stream = link.request(
      requestHeadersOf({
        request,
        call,
        deadline: clientDeadlineOf(request, wire.protocol),
        host,
        url: arrived.url,
        hub,
        traceparent: headers.traceparent?.toString(),
      }),
    );
    const broken = (hasHead: boolean) =>
      link.closed.aborted ? infraErrorFrom(link.closed.reason) : answerBroken(host, stream.rstCode, hasHead);
    const hostStream = watchHostStream(stream, broken);
    const stopWatching = call.method.methodKind === "unary" ? () => {} : accessWatch.add(call, host);
    const stopSending = sendRequest(request, stream, call, accessWatch.check(call, host));
    return { host, hostStream, stopSending, stopWatching };
  }

  async function pass(): Promise<void> {
    begun ??= begin();
    const { host, hostStream } = begun;
    const head = await untilCallEnds(call, hostStream.head);
    answer = createHostAnswer(hostStream, head, { call, wire, host, request, response, headers });
    const error = await answer.pass();
    begun.stopSending();
    if (error !== undefined) {
      throw error;
    }
  }

  return {
    pass,
    async untilHead() {
      begun = begin();
      const head = await untilCallEnds(call, begun.hostStream.head);
      noteReported(head, call);
      const error = errorOfHead(head, wire);
      if (error !== undefined) {
        throw error;
      }
      return {};
    },
    async asStream() {
      begun = begin();
      const next = async (): Promise<IteratorResult<object>> => {
        await pass();
        return { done: true, value: undefined };
      };
      return { [Symbol.asyncIterator]: () => ({ next }) };
    },
    hasBegun: () => begun !== undefined,
    endWithError(error) {
      answer?.endWithError(wireErrorFrom(error, call));
    },
    close() {
      begun?.stopSending();
      begun?.stopWatching();
      if (begun?.hostStream.stream.closed === false) {
        begun.hostStream.stream.close(constants.NGHTTP2_CANCEL);
      }
    },
  };
}
