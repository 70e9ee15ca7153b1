import { backupTransactions } from "../backups/store/transactions.ts";
import { auditTransactions } from "../domains/audit/store/transactions.ts";
import { authTransactions } from "../domains/auth/store/transactions.ts";
import { clusterTransactions } from "../domains/clusters/store/transactions.ts";
import { idempotencyTransactions } from "../domains/idempotency/store/transactions.ts";
import { planTransactions } from "../domains/plan/store/transactions.ts";
import { eventTransactions } from "../events/store/transactions.ts";
import { fleetTransactions } from "../fleet/store/transactions.ts";
import { masterKeyTransactions } from "../master-key/store/transactions.ts";
import { operationTransactions } from "../operations/store/transactions.ts";
import type { GatewayTransactions } from "../store/store.ts";
import { storeCheckTransactions } from "../store/store-check.ts";

/**
 * All transactions of the gateway's store by name, in the form `concern.verb`. Each folder with tables lists its own in
 * `store/transactions.ts`, and declares their types there.
 */
export const transactions: GatewayTransactions = {
  ...auditTransactions,
  ...authTransactions,
  ...backupTransactions,
  ...clusterTransactions,
  ...eventTransactions,
  ...fleetTransactions,
  ...idempotencyTransactions,
  ...masterKeyTransactions,
  ...operationTransactions,
  ...planTransactions,
  ...storeCheckTransactions,
};
