import type { PlannedMutation } from "../../../operations/mutation.ts";
import type { SlotRecord } from "../store/records.ts";

/** A stray: a machine allocated to the gateway's MAAS account that no cluster knows. */
export interface StrayFacts {
  readonly systemId: string;
  readonly hostname: string;
  /** E.g. `deployed`. */
  readonly maasStatus: string;
  /** The cluster in its marks; undefined when it has none. */
  readonly cluster: string | undefined;
  /** Undefined for the control plane, or without marks. */
  readonly pool: string | undefined;
  /** Whether it was allocated by this gateway's store. */
  readonly isOurs: boolean;
  readonly isAdoptable: boolean;
  /** For people. */
  readonly message: string;
}

/** Calls about strays. */
export interface StrayCalls {
  list(): Promise<{
    readonly strays: readonly StrayFacts[];
    readonly reportOnlyBecause: string | undefined;
  }>;
  /** @throws InfraError STRAY_NOT_FOUND, STRAY_NOT_ADOPTABLE, MACHINE_IN_USE, and as `MaasAdapter.machines` */
  adopt(systemId: string): Promise<SlotRecord>;
  /** @throws InfraError STRAY_NOT_FOUND, MACHINE_IN_USE, and as `MaasAdapter.release` */
  release(systemId: string): Promise<void>;
  /** Each runs the checks of the function with the same name, without changing anything. */
  readonly plan: {
    adopt(systemId: string): Promise<PlannedMutation>;
    release(systemId: string): Promise<PlannedMutation>;
  };
}
