import { storedBackupTransactions } from "./backups.ts";
import { repositoryKeyTransactions } from "./repository-keys.ts";
import { repositoryMakingTransactions } from "./repository-makings.ts";

/** Transactions of backups and their repositories. */
export const backupTransactions = {
  ...storedBackupTransactions,
  ...repositoryKeyTransactions,
  ...repositoryMakingTransactions,
};

type BackupTransactions = typeof backupTransactions;

declare module "../../store/store.ts" {
  interface GatewayTransactions extends BackupTransactions {}
}
