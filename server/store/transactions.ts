import { apiTokenTransactions } from "./api-tokens.ts";
import { auditTransactions } from "./audit.ts";
import { authChangeTransactions } from "./auth-changes.ts";
import { backupTransactions } from "./backups.ts";
import { clusterAccountTransactions } from "./cluster-account.ts";
import { clusterChangeTransactions } from "./cluster-changes.ts";
import { clusterEndpointTransactions } from "./cluster-endpoints.ts";
import { clusterPassTransactions } from "./cluster-passes.ts";
import { clusterPurgeTransactions } from "./cluster-purge.ts";
import { clusterSlotTransactions } from "./cluster-slots.ts";
import { clusterStrayTransactions } from "./cluster-strays.ts";
import { clusterTransactions } from "./clusters.ts";
import { eventTransactions } from "./events.ts";
import { idempotencyTransactions } from "./idempotency.ts";
import { loginFailureTransactions } from "./login-failures.ts";
import { observedStateTransactions } from "./observed-states.ts";
import { operationClaimTransactions } from "./operation-claims.ts";
import { operationRequestTransactions } from "./operation-requests.ts";
import { operationStepTransactions } from "./operation-steps.ts";
import { operationTransactions } from "./operations.ts";
import { repositoryKeyTransactions } from "./repository-keys.ts";
import { repositoryMakingTransactions } from "./repository-makings.ts";
import { sessionTransactions } from "./sessions.ts";
import { storeCheckTransactions } from "./store-check.ts";
import type { Transactions } from "./transaction.ts";
import { userTransactions } from "./users.ts";

/**
 * All transactions of the store by name, in the form `concern.verb`. Each concern is a file next to this one, whose object is
 * spread here.
 */
export const transactions = {
  ...auditTransactions,
  ...apiTokenTransactions,
  ...authChangeTransactions,
  ...backupTransactions,
  ...clusterTransactions,
  ...clusterAccountTransactions,
  ...clusterChangeTransactions,
  ...clusterEndpointTransactions,
  ...clusterPassTransactions,
  ...clusterPurgeTransactions,
  ...clusterSlotTransactions,
  ...clusterStrayTransactions,
  ...eventTransactions,
  ...idempotencyTransactions,
  ...loginFailureTransactions,
  ...observedStateTransactions,
  ...operationTransactions,
  ...operationClaimTransactions,
  ...operationRequestTransactions,
  ...operationStepTransactions,
  ...repositoryKeyTransactions,
  ...repositoryMakingTransactions,
  ...sessionTransactions,
  ...storeCheckTransactions,
  ...userTransactions,
} satisfies Transactions;
