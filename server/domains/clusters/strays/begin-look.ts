import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { Clocks } from "../clocks.ts";

/** Far less than it takes to give a machine back and install it for somebody else. */
const maxAgeMs = 5_000;

/** A look at a machine, after which it is changed. */
export interface Look {
  /**
   * Right before the change: a gateway that was frozen since, or was told late, does not know whose the machine is by now.
   * @throws InfraError MAAS_UNAVAILABLE
   */
  assertFresh(): void;
}

/** To be called before MAAS is asked. */
export function beginLook({ monotonicMs, wallMs }: Clocks, systemId: string): Look {
  const [sinceMs, sinceWallMs] = [monotonicMs(), wallMs()];
  return {
    assertFresh() {
      if (monotonicMs() - sinceMs > maxAgeMs || wallMs() - sinceWallMs > maxAgeMs) {
        throw new InfraError(
          "MAAS_UNAVAILABLE",
          `it took too long to see whose machine ${systemId} is; nothing was done to it, ask again`,
          { resource: `maas/machines/${systemId}` },
        );
      }
    },
  };
}
