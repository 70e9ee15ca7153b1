import type { PlannedMutation } from "../../operations/mutation.ts";
import type { SlotRecord } from "../../store/cluster-records.ts";

/** A machine that MAAS has given to the gateway's account and no cluster knows. */
export interface StrayFacts {
  readonly systemId: string;
  readonly hostname: string;
  /** As `deployed`. */
  readonly maasStatus: string;
  /** What is written on it; undefined when nothing is. */
  readonly cluster: string | undefined;
  /** Undefined: of the control plane, or nothing is written on it. */
  readonly pool: string | undefined;
  /** Whether it was taken by this gateway's store. */
  readonly isOurs: boolean;
  readonly isAdoptable: boolean;
  /** For people. */
  readonly message: string;
}

/** What callers can do about strays. */
export interface StrayCalls {
  list(): Promise<{
    readonly strays: readonly StrayFacts[];
    readonly reportOnlyBecause: string | undefined;
  }>;
  /** @throws InfraError STRAY_NOT_FOUND, STRAY_NOT_ADOPTABLE, MACHINE_IN_USE, and as `MaasAdapter.machines` */
  adopt(systemId: string): Promise<SlotRecord>;
  /** @throws InfraError STRAY_NOT_FOUND, MACHINE_IN_USE, and as `MaasAdapter.release` */
  release(systemId: string): Promise<void>;
  /** Each runs the checks of its namesake, and changes nothing. */
  readonly plan: {
    adopt(systemId: string): Promise<PlannedMutation>;
    release(systemId: string): Promise<PlannedMutation>;
  };
}
