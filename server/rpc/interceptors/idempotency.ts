import { InfraError } from "../../../adapters/host/infra-error.ts";
import type { Call, Output } from "../call/call.ts";
import type { InterceptorFor } from "../call/method-interceptors.ts";
import { methodPathOf } from "../call/method-rule.ts";
import { infraErrorFrom } from "../errors/connect-error.ts";
import { rpcReasons } from "../reasons.ts";
import { canonicalBytes } from "./canonical-bytes.ts";
import { idempotencyKeyHeader } from "./known-headers.ts";
import { decodeStoredAnswer, encodeStoredAnswer, type StoredAnswer } from "./stored-answer.ts";

/** A call with a key, identified by caller, method and key together. */
export interface KeyedCall {
  readonly caller: string;
  readonly method: string;
  readonly key: string;
  /** The whole request, as `canonicalBytes`. A second call is the same only if its request is equal. */
  readonly request: Uint8Array;
}

/** State of a key. */
export type KeyState =
  /** The key is new: the caller has to make the call, and call one of the functions when it has ended. */
  | { readonly state: "claimed"; store(answer: Uint8Array): Promise<void>; release(): Promise<void> }
  | { readonly state: "stored"; readonly answer: Uint8Array }
  /** The first call with the key is in progress, here or at another gateway. */
  | { readonly state: "running" }
  | { readonly state: "reused" }
  /** The gateway of the first call has stopped without an answer. */
  | { readonly state: "unknown" };

/** Storage of keys and answers. */
export interface IdempotencyPort {
  /** Claims a key. If several callers on any gateways claim it at once, exactly one gets `claimed`. */
  claim(call: KeyedCall): Promise<KeyState>;
  /** Increases whenever a call with a key has ended on any gateway. */
  changeCount(): number;
  /** Waits until the count differs from `seen`, about a second has passed, or the signal is aborted. */
  untilChanged(seen: number, signal: AbortSignal): Promise<void>;
  /** Called when something could not be written after a call has ended. */
  onFailed(what: string, error: unknown): void;
}

/** Response header of a stored answer. */
const replayHeader = "hostplane-idempotent-replay";

/**
 * Applies a change once, however often it is sent: while a key is stored, a call with the header `idempotency-key` gets the
 * answer of the first call with that key. Some methods have the key in their request. Goes around the work of a unary call, which continues after its caller has left, and
 * after `assertKnownHeaders`, which refuses invalid keys. An error of a call that has changed nothing is not stored, so that the
 * next call tries again.
 */
export function createIdempotency(port: IdempotencyPort): InterceptorFor {
  /** Calls in progress here, by key: a caller that waits for one of them is woken only by it. */
  const running = new Map<string, Promise<unknown>>();

  async function finish(
    call: Call,
    key: Extract<KeyState, { state: "claimed" }>,
    answer: StoredAnswer["outcome"],
  ) {
    try {
      if ("error" in answer && answer.error.effect === "none") {
        await key.release();
      } else {
        const stored = { resource: call.resource(), operationId: call.operationId(), outcome: answer };
        await key.store(encodeStoredAnswer(call.method.output, stored));
      }
    } catch (error) {
      port.onFailed(`the result of ${call.requestId}`, error);
    }
  }

  async function run(
    call: Call,
    key: Extract<KeyState, { state: "claimed" }>,
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
    await finish(call, key, { message: output as StoredMessage });
    return output;
  }

  async function once(call: Call, key: string, next: () => Promise<Output>): Promise<Output> {
    const keyed: KeyedCall = {
      caller: callerOf(call),
      method: methodPathOf(call.method),
      key,
      request: canonicalBytes(await call.input()),
    };
    const id = JSON.stringify([keyed.caller, keyed.method, key]);
    for (;;) {
      call.signal.throwIfAborted();
      const seen = port.changeCount();
      const claim = await port.claim(keyed);
      switch (claim.state) {
        case "claimed": {
          const work = run(call, claim, next);
          running.set(id, work);
          try {
            return await work;
          } finally {
            running.delete(id);
          }
        }
        case "stored":
          return replay(call, claim.answer);
        case "running":
          await (running.has(id)
            ? settledOrAborted(running.get(id), call.signal)
            : port.untilChanged(seen, call.signal));
          break;
        case "reused":
          throw new InfraError(
            rpcReasons.IDEMPOTENCY_KEY_REUSED,
            `${idempotencyKeyHeader}: already used for a ${keyed.method} with a different request; nothing was changed`,
          );
        case "unknown":
          throw new InfraError(
            rpcReasons.IDEMPOTENCY_OUTCOME_UNKNOWN,
            `the gateway stopped during the first ${keyed.method} with this ${idempotencyKeyHeader}; check whether it took effect, then continue with a new key`,
            { effect: "possible" },
          );
      }
    }
  }

  async function intercept(call: Call, next: () => Promise<Output>): Promise<Output> {
    const { idempotencyField } = call.rule;
    const key =
      idempotencyField === undefined
        ? call.header(idempotencyKeyHeader)
        : String(((await call.input()) as unknown as Record<string, unknown>)[idempotencyField]);
    return key === undefined ? next() : once(call, key, next);
  }

  return ({ methodKind }, rule) => (methodKind === "unary" && rule.mutation ? intercept : undefined);
}

type StoredMessage = Extract<StoredAnswer["outcome"], { message: unknown }>["message"];

/**
 * Returns the caller's id, so that accounts never share keys. Callers without an account (on a listener without login) are
 * identified by the listener and their address; account ids have no spaces.
 */
function callerOf({ caller, peer }: Call): string {
  return caller.accountId === "" ? `${peer.listener} ${peer.address}` : caller.accountId;
}

function replay(call: Call, bytes: Uint8Array): Output {
  const { resource, operationId, outcome } = decodeStoredAnswer(call.method.output, bytes);
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
