import { InfraError } from "../../../adapters/host/infra-error.ts";
import type { Call, Interceptor, Output } from "../call/call.ts";
import type { CostAccount } from "../call/cost-account.ts";
import type { InterceptorFor } from "../call/method-interceptors.ts";
import { rpcReasons } from "../reasons.ts";
import { type CallerLimitValues, type CallerUsage, createCallerUsages } from "./caller-usage.ts";
import type { Slot } from "./slots.ts";

export interface CallerLimits {
  /**
   * Counts a call that is refused before it reaches `interceptor`, so that unauthorized callers are limited too.
   * @throws InfraError CALLER_LIMIT
   */
  countDenied(call: Call): void;
  /** Limits calls per second, their cost, concurrent reads, and open streams. Goes after authorization. */
  readonly interceptor: Interceptor;
  /**
   * Limits changes in progress. Goes around the work, so that a change whose caller has left counts until it has ended, and
   * before anything is written for it.
   */
  readonly workInterceptor: InterceptorFor;
  /** Returns how many callers are tracked. An idle one is dropped within seconds. */
  callerCount(): number;
}

/** Maximum debt of CPU time. */
const debtSeconds = 10;

/** A slot's release cannot be predicted; suggest retrying after 1 s. */
const slotRetryMs = 1000;

/**
 * Creates the limits per caller. The admin socket has no limits.
 * @param nowMs a monotonic clock
 */
export function createCallerLimits(
  limits: CallerLimitValues,
  nowMs: () => number = () => performance.now(),
): CallerLimits {
  const { requestsPerSecond, cpuMsPerSecond } = limits;
  const cpuDebtMs = cpuMsPerSecond * debtSeconds;
  const usages = createCallerUsages(limits, nowMs);

  function takeToken(call: Call, usage: CallerUsage): void {
    if (usage.tokens < 1) {
      const retryAfterMs = ((1 - usage.tokens) / requestsPerSecond) * 1000;
      throw refusal(
        call,
        "requestsPerSecond",
        requestsPerSecond,
        "starts more calls per second",
        retryAfterMs,
      );
    }
    usage.tokens--;
  }

  /** @throws InfraError CALLER_LIMIT when earlier calls have cost too much */
  function assertAffordable(call: Call, { cpuMs, unreadBytes }: CallerUsage): void {
    if (cpuMs <= 0) {
      const retryAfterMs = ((1 - cpuMs) / cpuMsPerSecond) * 1000;
      throw refusal(call, "cpuMsPerSecond", cpuMsPerSecond, "uses more CPU time", retryAfterMs);
    }
    if (unreadBytes >= limits.unreadBytes) {
      throw refusal(call, "unreadBytes", limits.unreadBytes, "has more unread bytes of answers");
    }
  }

  /** A class, because one is created for every call. */
  class Account implements CostAccount {
    readonly #call: Call;
    readonly #usage: CallerUsage;
    readonly #slot: Slot | undefined;

    constructor(call: Call, usage: CallerUsage, slot: Slot | undefined) {
      this.#call = call;
      this.#usage = usage;
      this.#slot = slot;
    }

    spend(cpuMs: number): void {
      this.#usage.cpuMs = Math.max(this.#usage.cpuMs - cpuMs, -cpuDebtMs);
    }

    addUnread(bytes: number): void {
      this.#usage.unreadBytes += bytes;
    }

    countMessage(): void {
      usages.refill(this.#usage);
      takeToken(this.#call, this.#usage);
      assertAffordable(this.#call, this.#usage);
    }

    close(): void {
      this.#slot?.leave();
    }
  }

  /**
   * The cost of a read is only known afterwards, so reads that begin together could all pass the check and together exceed the
   * limits by far. Therefore only a few run at once, and once a limit is reached only the last of them gets an answer.
   */
  async function limitRead(
    call: Call,
    usage: CallerUsage,
    entered: Promise<void> | undefined,
    next: () => Promise<Output>,
  ): Promise<Output> {
    if (entered !== undefined) {
      await entered;
      usages.refill(usage);
      assertAffordable(call, usage);
    }
    const output = await next();
    if (usage.reads.takenCount() > 1) {
      usages.refill(usage);
      assertAffordable(call, usage);
    }
    return output;
  }

  async function limitStream(call: Call, usage: CallerUsage, next: () => Promise<Output>): Promise<Output> {
    if (usage.streams >= limits.streams) {
      throw refusal(call, "streams", limits.streams, "has more streams open");
    }
    usage.streams++;
    const release = () => {
      usage.streams--;
    };
    try {
      const output = await next();
      if (Symbol.asyncIterator in output) {
        call.onStreamEnd(release);
      } else {
        release();
      }
      return output;
    } catch (error) {
      release();
      throw error;
    }
  }

  const limitMutation: Interceptor = async (call, next) => {
    if (call.caller.credential === "adminSocket") {
      return await next();
    }
    const usage = usages.of(call);
    if (usage.mutations >= limits.mutations) {
      throw refusal(call, "mutations", limits.mutations, "has more changes running");
    }
    usage.mutations++;
    try {
      return await next();
    } finally {
      usage.mutations--;
    }
  };

  /** The call that applies a plan is counted itself. */
  const limitChange: Interceptor = (call, next) =>
    call.appliedPlan === undefined ? limitMutation(call, next) : next();

  return {
    countDenied(call) {
      if (call.caller.credential !== "adminSocket") {
        takeToken(call, usages.of(call));
      }
    },
    interceptor(call, next) {
      if (call.caller.credential === "adminSocket") {
        return next();
      }
      const usage = usages.of(call);
      takeToken(call, usage);
      assertAffordable(call, usage);
      const isRead = call.method.methodKind === "unary" && !call.rule.mutation;
      const slot = isRead ? usage.reads.enter(call) : undefined;
      call.chargeTo(new Account(call, usage, slot));
      if (slot !== undefined) {
        return limitRead(call, usage, slot.entered, next);
      }
      return call.method.methodKind === "unary" ? next() : limitStream(call, usage, next);
    },
    workInterceptor: (_method, rule) => (rule.mutation ? limitChange : undefined),
    callerCount: usages.count,
  };
}

function refusal(
  call: Call,
  name: keyof CallerLimitValues,
  value: number,
  what: string,
  retryAfterMs = slotRetryMs,
): InfraError {
  const { actor, accountId } = call.caller;
  const who = accountId === "" ? `${actor} at ${call.peer.address}` : actor;
  const message = `${who} ${what} than limits.caller.${name} allows (${value})`;
  return new InfraError(rpcReasons.CALLER_LIMIT, message, { retryAfterMs });
}
