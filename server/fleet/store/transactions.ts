import { authorityTransactions } from "./authority.ts";
import { followedHostTransactions } from "./followed-hosts.ts";
import { hostTransactions } from "./hosts.ts";
import { hubTransactions } from "./hubs.ts";
import { inventoryTransactions } from "./inventories.ts";
import { membershipTransactions } from "./membership.ts";
import { tokenTransactions } from "./tokens.ts";

/** Transactions of the fleet: of a hub, and of a gateway that is a member. */
export const fleetTransactions = {
  ...authorityTransactions,
  ...followedHostTransactions,
  ...hostTransactions,
  ...hubTransactions,
  ...inventoryTransactions,
  ...membershipTransactions,
  ...tokenTransactions,
};

type FleetTransactions = typeof fleetTransactions;

declare module "../../store/store.ts" {
  interface GatewayTransactions extends FleetTransactions {}
}
