import { createHmac, randomBytes } from "node:crypto";
import { InfraError } from "../../adapters/host/infra-error.ts";
import type { Around, Call } from "./call.ts";
import { networkOf } from "./network-of.ts";
import { watchedStream } from "./watched-stream.ts";

/** `limits.caller` of the configuration. */
export interface CallerLimitValues {
  readonly requestsPerSecond: number;
  readonly streams: number;
  readonly mutations: number;
}

export interface CallerLimits {
  /**
   * Counts calls that are refused before they come to `around`, so that who may not call is limited as well; belongs around
   * authorization.
   */
  readonly aroundDenied: Around;
  /** Limits calls per second and open streams; belongs behind authorization. */
  readonly around: Around;
  /**
   * Limits changes under way. Belongs around the work, so that one whose caller has left counts until it has ended,
   * and before anything is written for it.
   */
  readonly aroundWork: Around;
  /** How many callers are remembered; an idle one is forgotten within seconds. */
  callerCount(): number;
}

/** What one caller takes at the moment. */
interface Usage {
  /** Calls that may begin at once: grows by requestsPerSecond a second, up to `burstSeconds` of it. */
  tokens: number;
  refilledAtMs: number;
  streams: number;
  mutations: number;
}

/** A caller that was silent may begin as many calls at once as are allowed in this time. */
const burstSeconds = 2;

/** Room for addresses; accounts are as many as admins have made. */
const addressesMax = 10_000;

/** Where further addresses share what one of them would have. */
const sharedCount = 256;

/** When a slot is free again is known to nobody; a second is short for a person and long for a program. */
const slotRetryMs = 1000;

/**
 * What one caller may take: an account, or an address (IPv6: its /64, which is one household's) where nobody is
 * logged in. The admin socket has no limits.
 * @param nowMs a clock that never goes back
 */
export function createCallerLimits(
  limits: CallerLimitValues,
  nowMs: () => number = () => performance.now(),
): CallerLimits {
  const { requestsPerSecond } = limits;
  const burst = requestsPerSecond * burstSeconds;
  const usages = new Map<string, Usage>();
  /** Calls that have come to `around`. */
  const counted = new WeakSet<Call>();
  /** Which addresses meet in one place must not be for an attacker to choose. */
  const seed = randomBytes(16);
  let addressCount = 0;
  let sweptAtMs = nowMs();

  function sweep(now: number): void {
    sweptAtMs = now;
    addressCount = 0;
    for (const [key, usage] of usages) {
      refill(usage, now);
      if (usage.tokens === burst && usage.streams === 0 && usage.mutations === 0) {
        usages.delete(key);
      } else if (!key.startsWith(accountPrefix)) {
        addressCount++;
      }
    }
  }

  function refill(usage: Usage, now: number): void {
    const earned = ((now - usage.refilledAtMs) / 1000) * requestsPerSecond;
    usage.tokens = Math.min(usage.tokens + earned, burst);
    usage.refilledAtMs = now;
  }

  function usageOf(call: Call): Usage {
    const now = nowMs();
    if (now - sweptAtMs > burstSeconds * 1000) {
      sweep(now);
    }
    let key = callerKeyOf(call);
    let usage = usages.get(key);
    if (usage === undefined && addressCount >= addressesMax && !key.startsWith(accountPrefix)) {
      key = `shared ${(createHmac("sha256", seed).update(key).digest()[0] ?? 0) % sharedCount}`;
      usage = usages.get(key);
    }
    if (usage === undefined) {
      usage = { tokens: burst, refilledAtMs: now, streams: 0, mutations: 0 };
      usages.set(key, usage);
      addressCount += key.startsWith(accountPrefix) ? 0 : 1;
    }
    refill(usage, now);
    return usage;
  }

  function takeToken(call: Call, usage: Usage): void {
    if (usage.tokens < 1) {
      const retryAfterMs = ((1 - usage.tokens) / requestsPerSecond) * 1000;
      throw refusal(
        call,
        "requestsPerSecond",
        requestsPerSecond,
        "begins more calls in a second",
        retryAfterMs,
      );
    }
    usage.tokens--;
  }

  return {
    async aroundDenied(call, next) {
      try {
        return await next();
      } catch (error) {
        if (!counted.has(call) && call.caller.credential !== "adminSocket") {
          takeToken(call, usageOf(call));
        }
        throw error;
      }
    },
    async around(call, next) {
      counted.add(call);
      if (call.caller.credential === "adminSocket") {
        return next();
      }
      const usage = usageOf(call);
      takeToken(call, usage);
      if (call.method.methodKind === "unary") {
        return next();
      }
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
          return watchedStream(output, release);
        }
        release();
        return output;
      } catch (error) {
        release();
        throw error;
      }
    },
    async aroundWork(call, next) {
      if (!call.rule.mutation || call.caller.credential === "adminSocket") {
        return next();
      }
      const usage = usageOf(call);
      if (usage.mutations >= limits.mutations) {
        throw refusal(call, "mutations", limits.mutations, "has more changes under way");
      }
      usage.mutations++;
      try {
        return await next();
      } finally {
        usage.mutations--;
      }
    },
    callerCount: () => usages.size,
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
  return new InfraError("CALLER_LIMIT", message, { retryAfterMs });
}

const accountPrefix = "account ";

/** Whom a call counts for. */
function callerKeyOf(call: Call): string {
  const { accountId } = call.caller;
  if (accountId !== "") {
    return accountPrefix + accountId;
  }
  const { address, listener } = call.peer;
  return address === "unix" ? `socket ${listener}` : `address ${networkOf(address)}`;
}
