import { planRecordTransactions } from "./plans.ts";
import { planUseTransactions } from "./use.ts";

/** Saved plans and their approvals. */
export const planTransactions = { ...planRecordTransactions, ...planUseTransactions };

type PlanTransactions = typeof planTransactions;

declare module "../../../store/store.ts" {
  interface GatewayTransactions extends PlanTransactions {}
}
