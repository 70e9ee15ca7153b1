import type { DescMethod } from "@bufbuild/protobuf";
import { trackEffect } from "../../../adapters/host/effect.ts";
import { type Effect, InfraError } from "../../../adapters/host/infra-error.ts";
import { infraErrorFrom } from "../errors/connect-error.ts";
import type { Call, Interceptor, Output } from "./call.ts";
import { chargeLoopTime } from "./loop-time.ts";
import type { MethodInterceptors } from "./method-interceptors.ts";
import type { MethodRule } from "./method-rule.ts";
import type { RoutedCall } from "./routed-call.ts";
import type { AnyHandler } from "./service-handlers.ts";
import { streamUntilCallEnds, untilCallEnds } from "./until-call-ends.ts";
import { watchedStream } from "./watched-stream.ts";

/** The path of a method's calls, which all protocols share. */
export interface CallPath {
  /**
   * Runs the interceptors and the handler. An exception, now or while messages of the output are read, ends the call.
   * @param inputs the messages of a request stream; a single message is read by the exchange
   */
  run(call: RoutedCall, inputs?: AsyncIterable<unknown>): Promise<Output>;
  /**
   * Passes a call whose request is refused through the interceptors, so that a caller without permission gets that error instead,
   * and the log has a line. Closes the call. Returns the error to send.
   */
  refuse(call: RoutedCall, error: InfraError): Promise<InfraError>;
}

/** @param keepAliveMs silence on an HTTP/1.1 stream after which a repeatable message is repeated */
export function createCallPath(
  method: DescMethod,
  rule: MethodRule,
  { interceptors, workInterceptors }: MethodInterceptors,
  handler: AnyHandler,
  keepAliveMs: number,
): CallPath {
  const isUnary = method.methodKind === "unary";
  const isUnaryChange = isUnary && rule.mutation;
  const isSingle = isUnary || method.methodKind === "server_streaming";

  /** Adds the effect that the call has had to each error: errors before the handler begins have changed nothing. */
  async function runChange(call: RoutedCall): Promise<Output> {
    let effect: Effect = "none";
    try {
      return await runInterceptors(interceptors, call, async () => {
        const input = await call.input();
        chargeLoopTime(call);
        const work = runInterceptors(workInterceptors, call, async () => {
          effect = "possible";
          try {
            const output = await trackEffect(async () => handler(input, call));
            effect = "done";
            return output;
          } catch (thrown) {
            // The effect of a fault in the gateway is unknown.
            throw thrown instanceof InfraError ? thrown : infraErrorFrom(thrown).withEffect("possible");
          }
        });
        return untilCallEnds(call, work, (error) => error.withEffect("possible"));
      });
    } catch (thrown) {
      throw withEffect(thrown, effect);
    }
  }

  async function runAdmitted(call: RoutedCall, inputs: AsyncIterable<unknown> | undefined): Promise<Output> {
    const input = isSingle ? await call.input() : counted(inputs, call);
    chargeLoopTime(call);
    if (isUnary) {
      return untilCallEnds(
        call,
        runInterceptors(workInterceptors, call, async () => handler(input, call)),
      );
    }
    const result = handler(input, call);
    if (Symbol.asyncIterator in result) {
      // Server-sent events use comments instead.
      const hasPing = call.peer.httpVersion === "2.0" || call.protocol === "sse";
      return streamUntilCallEnds(call, result, rule.repeatable && !hasPing ? keepAliveMs : undefined);
    }
    return await untilCallEnds(call, result);
  }

  return {
    run: (call, inputs) =>
      isUnaryChange ? runChange(call) : runInterceptors(interceptors, call, () => runAdmitted(call, inputs)),
    async refuse(call, error) {
      try {
        await runInterceptors(interceptors, call, () => Promise.reject(error));
      } catch (thrown) {
        return isUnaryChange ? withEffect(thrown, "none") : infraErrorFrom(thrown);
      } finally {
        call.close();
      }
      return error;
    },
  };
}

function withEffect(thrown: unknown, effect: Effect): InfraError {
  const error = infraErrorFrom(thrown);
  return error.effect === undefined ? error.withEffect(effect) : error;
}

/** Yields the messages of a request stream and counts each as a call. @throws InfraError CALLER_LIMIT */
async function* counted(
  messages: AsyncIterable<unknown> | undefined,
  call: RoutedCall,
): AsyncGenerator<unknown, void> {
  for await (const message of messages ?? []) {
    call.countMessage();
    chargeLoopTime(call);
    yield message;
  }
}

/**
 * Runs `last` inside all interceptors; the first is outermost. Rejects with whatever an interceptor throws. A stream gets one
 * generator, which reports its end to all interceptors: one generator for each would cost time for every message, and memory
 * while idle.
 */
export function runInterceptors(
  links: readonly Interceptor[],
  call: Call,
  last: () => Promise<Output>,
): Promise<Output> {
  const step = (index: number): Promise<Output> => {
    const link = links[index];
    return link === undefined ? last() : link(call, () => step(index + 1));
  };
  try {
    const output = step(0);
    return call.method.methodKind === "unary"
      ? output
      : output.then((stream) => withEndNotification(stream, call));
  } catch (thrown) {
    return Promise.reject(thrown);
  }
}

function withEndNotification(output: Output, call: Call): Output {
  return Symbol.asyncIterator in output
    ? watchedStream(output, (error) => call.notifyStreamEnd(error))
    : output;
}
