import { backupTransactions } from "../backups/store/backups.ts";
import { repositoryKeyTransactions } from "../backups/store/repository-keys.ts";
import { repositoryMakingTransactions } from "../backups/store/repository-makings.ts";
import { auditTransactions } from "../domains/audit/store/audit-events.ts";
import { apiTokenTransactions } from "../domains/auth/store/api-tokens.ts";
import { authChangeTransactions } from "../domains/auth/store/auth-changes.ts";
import { loginFailureTransactions } from "../domains/auth/store/login-failures.ts";
import { sessionTransactions } from "../domains/auth/store/sessions.ts";
import { userTransactions } from "../domains/auth/store/users.ts";
import { clusterAccountTransactions } from "../domains/clusters/store/account.ts";
import { clusterChangeTransactions } from "../domains/clusters/store/changes.ts";
import { clusterTransactions } from "../domains/clusters/store/clusters.ts";
import { clusterEndpointTransactions } from "../domains/clusters/store/endpoints.ts";
import { clusterPassTransactions } from "../domains/clusters/store/passes.ts";
import { clusterPurgeTransactions } from "../domains/clusters/store/purge.ts";
import { clusterSlotTransactions } from "../domains/clusters/store/slots.ts";
import { clusterStrayTransactions } from "../domains/clusters/store/strays.ts";
import { idempotencyTransactions } from "../domains/idempotency/store/idempotency-keys.ts";
import { eventTransactions } from "../events/store/events.ts";
import { observedStateTransactions } from "../events/store/observed-states.ts";
import { operationClaimTransactions } from "../operations/store/claims.ts";
import { operationTransactions } from "../operations/store/operations.ts";
import { operationRequestTransactions } from "../operations/store/requests.ts";
import { operationStepTransactions } from "../operations/store/steps.ts";
import { storeCheckTransactions } from "../store/store-check.ts";
import type { Transactions } from "../store/transaction.ts";

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
