import { createHash } from "node:crypto";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { createLimiter, type Limiter } from "../../../adapters/host/limiter.ts";
import { networkOf } from "../../rpc/network-of.ts";
import type { Store } from "../../store/store.ts";
import type { GuardPassword } from "./users.ts";

/** Failures that cost nothing but the attempt. */
const freeFailuresOfPair = 5;
const freeFailuresOfAddress = 20;
const maxWaitingOfAddress = 16;
const purgeEvery = 100;

/**
 * Counts wrong passwords as failed logins of that user from that address, and of that address. Never of the user
 * alone, so that nobody can lock out a user who is elsewhere. An address is a /64 in IPv6. While one of the counts has
 * to wait, right passwords are refused like wrong ones, by TOO_MANY_LOGINS. What `verify` throws counts for nothing.
 * More than 17 attempts of one address at once are BUSY.
 */
export function createLoginThrottle(store: Pick<Store, "run">): GuardPassword {
  /** One at a time for each address: right passwords sent at once would otherwise count as so many failures. */
  const turns = new Map<string, { readonly limiter: Limiter; users: number }>();
  let countedSincePurge = purgeEvery;

  async function inTurn<T>(network: string, task: () => Promise<T>): Promise<T> {
    const turn = turns.get(network) ?? { limiter: createAddressLimiter(), users: 0 };
    turns.set(network, turn);
    turn.users += 1;
    try {
      return await turn.limiter.run(task);
    } finally {
      turn.users -= 1;
      if (turn.users === 0) {
        turns.delete(network);
      }
    }
  }

  return ({ name, address }, verify) => {
    const network = networkOf(address);
    return inTurn(network, async () => {
      const pair = { key: pairKey(name, network), freeFailures: freeFailuresOfPair };
      const ofAddress = { key: `address ${network}`, freeFailures: freeFailuresOfAddress };
      countedSincePurge += 1;
      const isPurgeDue = countedSincePurge >= purgeEvery;
      if (isPurgeDue) {
        countedSincePurge = 0;
      }
      const attempt = await store.run("loginFailures.count", { counters: [pair, ofAddress], isPurgeDue });
      if (!attempt.ok) {
        const { retryAfterMs } = attempt;
        const seconds = Math.ceil(retryAfterMs / 1000);
        const message = `too many failed logins of this user from this address, or from this address: try again in ${seconds} s`;
        throw new InfraError("TOO_MANY_LOGINS", message, { retryAfterMs });
      }
      const takeBack = (forgottenKeys: readonly string[]) =>
        store.run("loginFailures.takeBack", { counted: attempt.counted, forgottenKeys });
      let isRight: boolean;
      try {
        isRight = await verify();
      } catch (error) {
        await takeBack([]);
        throw error;
      }
      if (isRight) {
        await takeBack([pair.key]);
      }
      return isRight;
    });
  };
}

function createAddressLimiter(): Limiter {
  return createLimiter({ what: "logins of this address", maxRunning: 1, maxWaiting: maxWaitingOfAddress });
}

/** A hash, as a name may be megabytes of anything. */
function pairKey(name: string, network: string): string {
  return `pair ${createHash("sha256").update(`${network}\0${name}`).digest("base64url")}`;
}
