import type { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { InventoryRow } from "../read-inventory.ts";
import type { HostDomainProblem } from "./host-problems.ts";

/** What a hub knows of the resources of a host. */
export interface HostInventory {
  readonly host: string;
  readonly isConnected: boolean;
  /** Until when the rows are known to be the host's, in milliseconds since the epoch; undefined if there are none. */
  readonly readAtMs: number | undefined;
  /** Why the rows are missing, old or incomplete. */
  readonly error: InfraError | undefined;
  /** The same array as long as nothing has changed. */
  readonly rows: readonly InventoryRow[];
  readonly problems: readonly HostDomainProblem[];
}
