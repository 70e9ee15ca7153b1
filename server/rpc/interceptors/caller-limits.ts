import { createHmac, randomBytes } from "node:crypto";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { networkOf } from "../../config/address-range.ts";
import type { Call, Interceptor, Output } from "../call/call.ts";
import type { CostAccount } from "../call/cost-account.ts";
import type { InterceptorFor } from "../call/method-interceptors.ts";
import { rpcReasons } from "../reasons.ts";
import { createSlots, type Slot, type Slots } from "./slots.ts";

/** `limits.caller` of the configuration. */
export interface CallerLimitValues {
  readonly requestsPerSecond: number;
  /** Concurrent unary calls that change nothing; further ones wait. */
  readonly reads: number;
  readonly streams: number;
  readonly mutations: number;
  /** CPU time of the event loop. */
  readonly cpuMsPerSecond: number;
  /** Bytes of answers that the caller has not read yet. */
  readonly unreadBytes: number;
}

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

/** Current usage of one caller. */
interface Usage {
  /** Calls that may begin at once. Grows by requestsPerSecond per second, up to `burstSeconds` worth. */
  tokens: number;
  /** CPU time that calls may use. Grows by cpuMsPerSecond per second. A call is charged afterwards, so this can be negative. */
  cpuMs: number;
  refilledAtMs: number;
  readonly reads: Slots;
  streams: number;
  mutations: number;
  unreadBytes: number;
}

/** A caller that was idle may use its limits of this many seconds at once. */
const burstSeconds = 2;

/** Maximum debt of CPU time. */
const debtSeconds = 10;

/** Maximum number of tracked addresses. Accounts need no maximum: only admins create them. */
const addressesMax = 10_000;

/** Number of buckets that further addresses share. Each bucket has the quota of one address. */
const sharedBucketCount = 256;

/** A slot's release cannot be predicted; suggest retrying after 1 s. */
const slotRetryMs = 1000;

/**
 * Creates the limits per caller: an account, or an address for callers without one (for IPv6 the /64, as that is one household).
 * The admin socket has no limits.
 * @param nowMs a monotonic clock
 */
export function createCallerLimits(
  limits: CallerLimitValues,
  nowMs: () => number = () => performance.now(),
): CallerLimits {
  const { requestsPerSecond, cpuMsPerSecond } = limits;
  const burst = requestsPerSecond * burstSeconds;
  const cpuBurstMs = cpuMsPerSecond * burstSeconds;
  const cpuDebtMs = cpuMsPerSecond * debtSeconds;
  const accounts = new Map<string, Usage>();
  const addresses = new Map<string, Usage>();
  /** Secret, so that an attacker cannot choose which addresses share a bucket. */
  const seed = randomBytes(16);
  let sweptAtMs = nowMs();

  function sweep(now: number): void {
    sweptAtMs = now;
    for (const usages of [accounts, addresses]) {
      for (const [key, usage] of usages) {
        refill(usage, now);
        if (isIdle(usage)) {
          usages.delete(key);
        }
      }
    }
  }

  function isIdle({ tokens, cpuMs, reads, streams, mutations, unreadBytes }: Usage): boolean {
    const isFull = tokens === burst && cpuMs === cpuBurstMs;
    return isFull && reads.takenCount() === 0 && streams === 0 && mutations === 0 && unreadBytes === 0;
  }

  function refill(usage: Usage, now: number): void {
    const seconds = (now - usage.refilledAtMs) / 1000;
    usage.tokens = Math.min(usage.tokens + seconds * requestsPerSecond, burst);
    usage.cpuMs = Math.min(usage.cpuMs + seconds * cpuMsPerSecond, cpuBurstMs);
    usage.refilledAtMs = now;
  }

  function usageOf(call: Call): Usage {
    const now = nowMs();
    if (now - sweptAtMs > burstSeconds * 1000) {
      sweep(now);
    }
    const { accountId } = call.caller;
    const usage =
      accountId === "" ? usageOfAddress(addressKeyOf(call.peer), now) : usageIn(accounts, accountId, now);
    refill(usage, now);
    return usage;
  }

  function usageOfAddress(key: string, now: number): Usage {
    if (addresses.size < addressesMax || addresses.has(key)) {
      return usageIn(addresses, key, now);
    }
    const slot = (createHmac("sha256", seed).update(key).digest()[0] ?? 0) % sharedBucketCount;
    return usageIn(addresses, `shared ${slot}`, now);
  }

  function usageIn(usages: Map<string, Usage>, key: string, now: number): Usage {
    let usage = usages.get(key);
    if (usage === undefined) {
      usage = {
        tokens: burst,
        cpuMs: cpuBurstMs,
        refilledAtMs: now,
        reads: createSlots(limits.reads),
        streams: 0,
        mutations: 0,
        unreadBytes: 0,
      };
      usages.set(key, usage);
    }
    return usage;
  }

  function takeToken(call: Call, usage: Usage): void {
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
  function assertAffordable(call: Call, { cpuMs, unreadBytes }: Usage): void {
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
    readonly #usage: Usage;
    readonly #slot: Slot | undefined;

    constructor(call: Call, usage: Usage, slot: Slot | undefined) {
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
      refill(this.#usage, nowMs());
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
  async function aroundRead(
    call: Call,
    usage: Usage,
    entered: Promise<void> | undefined,
    next: () => Promise<Output>,
  ): Promise<Output> {
    if (entered !== undefined) {
      await entered;
      refill(usage, nowMs());
      assertAffordable(call, usage);
    }
    const output = await next();
    if (usage.reads.takenCount() > 1) {
      refill(usage, nowMs());
      assertAffordable(call, usage);
    }
    return output;
  }

  async function aroundStream(call: Call, usage: Usage, next: () => Promise<Output>): Promise<Output> {
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

  const aroundMutation: Interceptor = async (call, next) => {
    if (call.caller.credential === "adminSocket") {
      return await next();
    }
    const usage = usageOf(call);
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

  return {
    countDenied(call) {
      if (call.caller.credential !== "adminSocket") {
        takeToken(call, usageOf(call));
      }
    },
    interceptor(call, next) {
      if (call.caller.credential === "adminSocket") {
        return next();
      }
      const usage = usageOf(call);
      takeToken(call, usage);
      assertAffordable(call, usage);
      const isRead = call.method.methodKind === "unary" && !call.rule.mutation;
      const slot = isRead ? usage.reads.enter(call) : undefined;
      call.chargeTo(new Account(call, usage, slot));
      if (slot !== undefined) {
        return aroundRead(call, usage, slot.entered, next);
      }
      return call.method.methodKind === "unary" ? next() : aroundStream(call, usage, next);
    },
    workInterceptor: (_method, rule) => (rule.mutation ? aroundMutation : undefined),
    callerCount: () => accounts.size + addresses.size,
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

/** Returns the key that a call without an account is counted under. */
function addressKeyOf({ address, listener }: Call["peer"]): string {
  return address === "unix" ? `socket ${listener}` : networkOf(address);
}
