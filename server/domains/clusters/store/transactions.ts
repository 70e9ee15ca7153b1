import { clusterAccountTransactions } from "./account.ts";
import { clusterChangeTransactions } from "./changes.ts";
import { clusterRecordTransactions } from "./clusters.ts";
import { clusterEndpointTransactions } from "./endpoints.ts";
import { clusterPassTransactions } from "./passes.ts";
import { clusterPurgeTransactions } from "./purge.ts";
import { clusterSlotTransactions } from "./slots.ts";
import { clusterStrayTransactions } from "./strays.ts";

/** Transactions of clusters. */
export const clusterTransactions = {
  ...clusterRecordTransactions,
  ...clusterAccountTransactions,
  ...clusterChangeTransactions,
  ...clusterEndpointTransactions,
  ...clusterPassTransactions,
  ...clusterPurgeTransactions,
  ...clusterSlotTransactions,
  ...clusterStrayTransactions,
};

type ClusterTransactions = typeof clusterTransactions;

declare module "../../../store/store.ts" {
  interface GatewayTransactions extends ClusterTransactions {}
}
