import { createLimiter, type Limiter } from "../../../../adapters/host/limiter.ts";
import { networkOf } from "../../../config/address-range.ts";

/** Limits what callers who are not known yet make the gateway do at identity providers. */
export interface AddressTurns {
  /** Runs the task when it is the address's turn. @throws InfraError BUSY, and the signal's reason while waiting */
  run<T>(address: string, task: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

const maxRunning = 16;
const maxWaiting = 256;
const maxRunningOfAddress = 4;
const maxWaitingOfAddress = 16;

/** At most 16 tasks run at once, 4 of them for one address. An IPv6 address is counted as its /64. */
export function createAddressTurns(): AddressTurns {
  const all = createLimiter({
    what: "logins by identity providers",
    maxRunning,
    maxWaiting,
  });
  const ofAddresses = new Map<string, { readonly limiter: Limiter; users: number }>();
  return {
    async run(address, task, signal) {
      const network = networkOf(address);
      const turn = ofAddresses.get(network) ?? { limiter: createAddressLimiter(), users: 0 };
      ofAddresses.set(network, turn);
      turn.users += 1;
      try {
        return await turn.limiter.run(() => all.run(task, signal), signal);
      } finally {
        turn.users -= 1;
        if (turn.users === 0) {
          ofAddresses.delete(network);
        }
      }
    },
  };
}

function createAddressLimiter(): Limiter {
  return createLimiter({
    what: "logins of this address by identity providers",
    queue: "logins by identity providers",
    maxRunning: maxRunningOfAddress,
    maxWaiting: maxWaitingOfAddress,
  });
}
