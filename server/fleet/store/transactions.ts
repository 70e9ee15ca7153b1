import { authorityTransactions } from "./authority.ts";
import { followedHostTransactions } from "./followed-hosts.ts";
import { hostTransactions } from "./hosts.ts";
import { hubTransactions } from "./hubs.ts";
import { membershipTransactions } from "./membership.ts";
import { tokenTransactions } from "./tokens.ts";

/** Transactions of the fleet: of a hub, and of a gateway that is a member. */
export const fleetTransactions = {
  ...authorityTransactions,
  ...followedHostTransactions,
  ...hostTransactions,
  ...hubTransactions,
  ...membershipTransactions,
  ...tokenTransactions,
};

type FleetTransactions = typeof fleetTransactions;

declare module "../../store/store.ts" {
  interface GatewayTransactions extends FleetTransactions {}
}
