import { createHash } from "node:crypto";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { createLimiter, type Limiter } from "../../../../adapters/host/limiter.ts";
import { networkOf } from "../../../config/address-range.ts";
import { rpcReasons } from "../../../rpc/reasons.ts";
import type { Store } from "../../../store/store.ts";
import type { GuardPassword } from "../users.ts";

/** Number of failures without a delay. */
const freeFailuresOfPair = 5;
const freeFailuresOfAddress = 20;
const maxWaitingOfAddress = 16;
const purgeEvery = 100;

/**
 * Throttles logins. A wrong password counts as a failure of the user from that address, and as one of the address. It never
 * counts for the user alone, so that an attacker cannot lock out a user elsewhere. An IPv6 address is counted as its /64.
 * While either count is blocked, right passwords are refused like wrong ones, with TOO_MANY_LOGINS. Errors of `verify` do not
 * count. More than 17 concurrent attempts of one address are BUSY.
 */
export function createLoginThrottle(store: Pick<Store, "run">): GuardPassword {
  /** One attempt at a time per address: concurrent attempts with the right password would otherwise all count as failures. */
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
        const message = `too many failed logins from this address, for this user or in total: try again in ${seconds} s`;
        throw new InfraError(rpcReasons.TOO_MANY_LOGINS, message, { retryAfterMs });
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

/** Returns a hashed key, because a name may be megabytes long. */
function pairKey(name: string, network: string): string {
  return `pair ${createHash("sha256").update(`${network}\0${name}`).digest("base64url")}`;
}
