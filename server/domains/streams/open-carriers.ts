import { randomUUID } from "node:crypto";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import type { Call } from "../../rpc/call/call.ts";
import { type Carrier, type CarrierMessage, createCarrier } from "./carrier.ts";
import { streamReasons } from "./reasons.ts";

type Owner = Pick<Call, "caller" | "peer">;

/** The open carriers of all callers. */
export interface OpenCarriers {
  /** Opens a carrier of the caller, and yields its ID and then its messages. Ends with the call. */
  open(call: Owner & Pick<Call, "signal">): AsyncGenerator<CarrierMessage, void>;
  /**
   * Returns a carrier of the caller.
   * @throws InfraError CARRIER_NOT_FOUND
   */
  find(carrierId: string, call: Owner): Carrier;
}

/** @param heartbeatMs silence after which a carrier has a heartbeat */
export function createOpenCarriers(heartbeatMs: number): OpenCarriers {
  const carriers = new Map<string, { readonly carrier: Carrier; readonly owner: string }>();
  return {
    async *open(call) {
      const carrierId = randomUUID();
      const carrier = createCarrier(heartbeatMs);
      carriers.set(carrierId, { carrier, owner: keyOf(call) });
      try {
        yield { message: { case: "opened", value: { carrierId } } };
        yield* carrier.messages(call.signal);
      } finally {
        carriers.delete(carrierId);
      }
    },
    find(carrierId, call) {
      const found = carriers.get(carrierId);
      if (found?.owner !== keyOf(call)) {
        const message = `carrier "${carrierId}" does not exist, has ended, or was opened with another credential`;
        throw new InfraError(streamReasons.CARRIER_NOT_FOUND, message);
      }
      return found.carrier;
    },
  };
}

/** Two logins differ even if they are the same user's, since one may end before the other. */
function keyOf({ caller, peer }: Owner): string {
  return JSON.stringify([peer.listener, caller.accountId, caller.sessionId]);
}
