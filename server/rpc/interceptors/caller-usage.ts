import { createHmac, randomBytes } from "node:crypto";
import { networkOf } from "../../config/address-range.ts";
import type { Call } from "../call/call.ts";
import { createSlots, type Slots } from "./slots.ts";

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

/** Current usage of one caller. */
export interface CallerUsage {
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

/** The usage of all callers. */
export interface CallerUsages {
  /** Returns the usage of a call's caller, with what it may use by now. */
  of(call: Pick<Call, "caller" | "peer">): CallerUsage;
  /** Adds what the caller may use by now. */
  refill(usage: CallerUsage): void;
  /** Returns how many callers are tracked. An idle one is dropped within seconds. */
  count(): number;
}

/** A caller that was idle may use its limits of this many seconds at once. */
const burstSeconds = 2;

/** Maximum number of tracked addresses. Accounts need no maximum: only admins create them. */
const addressesMax = 10_000;

/** Number of buckets that further addresses share. Each bucket has the quota of one address. */
const sharedBucketCount = 256;

/**
 * Tracks usage by caller: an account, or an address for callers without one (for IPv6 the /64, as that is one household).
 * @param nowMs a monotonic clock
 */
export function createCallerUsages(limits: CallerLimitValues, nowMs: () => number): CallerUsages {
  const { requestsPerSecond, cpuMsPerSecond } = limits;
  const burst = requestsPerSecond * burstSeconds;
  const cpuBurstMs = cpuMsPerSecond * burstSeconds;
  const accounts = new Map<string, CallerUsage>();
  const addresses = new Map<string, CallerUsage>();
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

  function isIdle({ tokens, cpuMs, reads, streams, mutations, unreadBytes }: CallerUsage): boolean {
    const isFull = tokens === burst && cpuMs === cpuBurstMs;
    return isFull && reads.takenCount() === 0 && streams === 0 && mutations === 0 && unreadBytes === 0;
  }

  function refill(usage: CallerUsage, now: number): void {
    const seconds = (now - usage.refilledAtMs) / 1000;
    usage.tokens = Math.min(usage.tokens + seconds * requestsPerSecond, burst);
    usage.cpuMs = Math.min(usage.cpuMs + seconds * cpuMsPerSecond, cpuBurstMs);
    usage.refilledAtMs = now;
  }

  function usageOf(call: Pick<Call, "caller" | "peer">): CallerUsage {
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

  function usageOfAddress(key: string, now: number): CallerUsage {
    if (addresses.size < addressesMax || addresses.has(key)) {
      return usageIn(addresses, key, now);
    }
    const slot = (createHmac("sha256", seed).update(key).digest()[0] ?? 0) % sharedBucketCount;
    return usageIn(addresses, `shared ${slot}`, now);
  }

  function usageIn(usages: Map<string, CallerUsage>, key: string, now: number): CallerUsage {
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

  return {
    of: usageOf,
    refill: (usage) => refill(usage, nowMs()),
    count: () => accounts.size + addresses.size,
  };
}

/** Returns the key that a call without an account is counted under. */
function addressKeyOf({ address, listener }: Call["peer"]): string {
  return address === "unix" ? `socket ${listener}` : networkOf(address);
}
