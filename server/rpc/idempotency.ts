import { toBinary } from "@bufbuild/protobuf";
import { InfraError } from "../../adapters/host/infra-error.ts";
import type { Call, Output } from "./call.ts";
import { infraErrorFrom } from "./errors.ts";
import { decodeKeptAnswer, encodeKeptAnswer, type KeptAnswer } from "./kept-answer.ts";
import type { LinkFor } from "./method-links.ts";
import { methodPathOf } from "./method-rule.ts";
import { idempotencyKeyHeader } from "./request-headers.ts";

/** A call that carries a key. Caller, method and key together are what is recognised. */
export interface KeyedCall {
  readonly caller: string;
  readonly method: string;
  readonly key: string;
  /** All of it: a second call is the same when this is. */
  readonly request: Uint8Array;
}

/** What a key is found to be. */
export type TakenKey =
  /** Nobody has used it; the call is to be made, and one of the functions called once it has ended. */
  | { readonly state: "taken"; keep(answer: Uint8Array): Promise<void>; forget(): Promise<void> }
  | { readonly state: "kept"; readonly answer: Uint8Array }
  /** The first call with it is under way, here or at another gateway. */
  | { readonly state: "running" }
  | { readonly state: "reused" }
  /** The gateway of the first call has gone without an answer. */
  | { readonly state: "unknown" };

/** Where keys and answers are kept. */
export interface IdempotencyPort {
  /** Of any number that ask at once for one key, on any gateway, one gets `taken`. */
  take(call: KeyedCall): Promise<TakenKey>;
  /** Grows whenever a call with a key has ended somewhere. */
  changeCount(): number;
  /** Waits until the count is another than `seen`, about a second, or until the signal is aborted. */
  untilChanged(seen: number, signal: AbortSignal): Promise<void>;
  /** Told of what could not be written once a call has ended. */
  onFailed(what: string, error: unknown): void;
}

/** The header of an answer that was kept. */
export const replayHeader = "hostplane-idempotent-replay";

/**
 * Makes a change once however often it is sent: a call with the header `idempotency-key` gets the answer that the first
 * with that key got, while the key is kept. Belongs around the work of a unary call, which goes on to its end when its caller
 * has left, and behind `assertKnownHeaders`, which refuses the keys that are not taken. An error of a call that has
 * changed nothing is not kept, so that the next call tries again.
 */
export function createIdempotency(port: IdempotencyPort): LinkFor {
  /** Calls under way here, by their keys: who waits for one of them wakes for it alone. */
  const running = new Map<string, Promise<unknown>>();

  async function finish(
    call: Call,
    key: Extract<TakenKey, { state: "taken" }>,
    answer: KeptAnswer["outcome"],
  ) {
    try {
      if ("error" in answer && answer.error.effect === "none") {
        await key.forget();
      } else {
        const kept = { resource: call.resource(), operationId: call.operationId(), outcome: answer };
        await key.keep(encodeKeptAnswer(call.method.output, kept));
      }
    } catch (error) {
      port.onFailed(`the result of ${call.requestId}`, error);
    }
  }

  async function run(
    call: Call,
    key: Extract<TakenKey, { state: "taken" }>,
    next: () => Promise<Output>,
  ): Promise<Output> {
    let output: Output;
    try {
      output = await next();
    } catch (thrown) {
      const error = infraErrorFrom(thrown);
      await finish(call, key, { error: error.effect === undefined ? error.withEffect("possible") : error });
      throw thrown;
    }
    await finish(call, key, { message: output as KeptMessage });
    return output;
  }

  async function once(call: Call, key: string, next: () => Promise<Output>): Promise<Output> {
    const keyed: KeyedCall = {
      caller: callerOf(call),
      method: methodPathOf(call.method),
      key,
      request: toBinary(call.method.input, await call.input()),
    };
    const id = JSON.stringify([keyed.caller, keyed.method, key]);
    for (;;) {
      call.signal.throwIfAborted();
      const seen = port.changeCount();
      const taken = await port.take(keyed);
      switch (taken.state) {
        case "taken": {
          const work = run(call, taken, next);
          running.set(id, work);
          try {
            return await work;
          } finally {
            running.delete(id);
          }
        }
        case "kept":
          return replay(call, taken.answer);
        case "running":
          await (running.has(id)
            ? settledOrAborted(running.get(id), call.signal)
            : port.untilChanged(seen, call.signal));
          break;
        case "reused":
          throw new InfraError(
            "IDEMPOTENCY_KEY_REUSED",
            `${idempotencyKeyHeader}: it was used for a ${keyed.method} with another request; nothing was done`,
          );
        case "unknown":
          throw new InfraError(
            "IDEMPOTENCY_OUTCOME_UNKNOWN",
            `the gateway stopped during the first ${keyed.method} with this ${idempotencyKeyHeader}; look whether it took effect, and go on with another key`,
            { effect: "possible" },
          );
      }
    }
  }

  function around(call: Call, next: () => Promise<Output>): Promise<Output> {
    const key = call.header(idempotencyKeyHeader);
    return key === undefined ? next() : once(call, key, next);
  }

  return ({ methodKind }, rule) => (methodKind === "unary" && rule.mutation ? around : undefined);
}

type KeptMessage = Extract<KeptAnswer["outcome"], { message: unknown }>["message"];

/**
 * Keys of two accounts never meet. Callers without one (of a listener without login) are known by the listener and
 * their address; account ids have no spaces.
 */
function callerOf({ caller, peer }: Call): string {
  return caller.accountId === "" ? `${peer.listener} ${peer.address}` : caller.accountId;
}

function replay(call: Call, bytes: Uint8Array): Output {
  const { resource, operationId, outcome } = decodeKeptAnswer(call.method.output, bytes);
  if (resource !== undefined) {
    call.noteResource(resource);
  }
  if (operationId !== undefined) {
    call.noteOperation(operationId);
  }
  call.setHeader(replayHeader, "true");
  if ("error" in outcome) {
    throw outcome.error;
  }
  return outcome.message;
}

function settledOrAborted(work: Promise<unknown> | undefined, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      signal.removeEventListener("abort", done);
      resolve();
    };
    signal.addEventListener("abort", done, { once: true });
    if (signal.aborted) {
      done();
    }
    Promise.resolve(work).then(done, done);
  });
}
