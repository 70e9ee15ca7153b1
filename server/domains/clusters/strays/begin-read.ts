import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { maasReasons } from "../../../../adapters/maas/reasons.ts";
import type { Clocks } from "../reconcile/clocks.ts";

/** Far shorter than it takes to release a machine and install it for another user. */
const maxAgeMs = 5_000;

/** The time at which a machine's state was read, before the machine is changed. */
export interface MachineRead {
  /**
   * Must be called right before the change: after a freeze or a slow response, the machine may belong to another user.
   * @throws InfraError MAAS_UNAVAILABLE
   */
  assertFresh(): void;
}

/** Must be called before MAAS is read. */
export function beginRead({ monotonicMs, wallMs }: Clocks, systemId: string): MachineRead {
  const [sinceMs, sinceWallMs] = [monotonicMs(), wallMs()];
  return {
    assertFresh() {
      if (monotonicMs() - sinceMs > maxAgeMs || wallMs() - sinceWallMs > maxAgeMs) {
        throw new InfraError(
          maasReasons.MAAS_UNAVAILABLE,
          `reading the owner of machine ${systemId} took too long; nothing was changed, try again`,
          { resource: `maas/machines/${systemId}` },
        );
      }
    },
  };
}
