import { apiTokenTransactions } from "./api-tokens.ts";
import { authChangeTransactions } from "./auth-changes.ts";
import { loginFailureTransactions } from "./login-failures.ts";
import { providerSessionTransactions } from "./provider-sessions.ts";
import { sessionTransactions } from "./sessions.ts";
import { userTransactions } from "./users.ts";

/** Transactions of accounts, tokens and signing keys. */
export const authTransactions = {
  ...apiTokenTransactions,
  ...authChangeTransactions,
  ...loginFailureTransactions,
  ...providerSessionTransactions,
  ...sessionTransactions,
  ...userTransactions,
};

type AuthTransactions = typeof authTransactions;

declare module "../../../store/store.ts" {
  interface GatewayTransactions extends AuthTransactions {}
}
