import { eventLogTransactions } from "./events.ts";
import { observedStateTransactions } from "./observed-states.ts";
import { eventPurgeTransactions } from "./purge.ts";

/** Transactions of the event log. */
export const eventTransactions = {
  ...eventLogTransactions,
  ...observedStateTransactions,
  ...eventPurgeTransactions,
};

type EventTransactions = typeof eventTransactions;

declare module "../../store/store.ts" {
  interface GatewayTransactions extends EventTransactions {}
}
