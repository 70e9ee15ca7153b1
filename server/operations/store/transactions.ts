import { operationClaimTransactions } from "./claims.ts";
import { operationRecordTransactions } from "./operations.ts";
import { operationPurgeTransactions } from "./purge.ts";
import { operationRequestTransactions } from "./requests.ts";
import { operationStepTransactions } from "./steps.ts";

/** Transactions of operations. */
export const operationTransactions = {
  ...operationRecordTransactions,
  ...operationClaimTransactions,
  ...operationRequestTransactions,
  ...operationStepTransactions,
  ...operationPurgeTransactions,
};

type OperationTransactions = typeof operationTransactions;

declare module "../../store/store.ts" {
  interface GatewayTransactions extends OperationTransactions {}
}
