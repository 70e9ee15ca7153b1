import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { Pass } from "./pass.ts";

/**
 * Keeps the address of a cluster in MAAS, before anything of it is installed.
 * @throws InfraError ADDRESS_TAKEN when somebody else has it; and as MAAS does
 */
export async function reserveEndpoint(pass: Pass): Promise<void> {
  const { endpoint: address, name } = pass.cluster;
  const { maas } = pass.tools;
  if (address === undefined) {
    return;
  }
  try {
    const reservation = { address, hostname: `${name}-api` };
    await pass.change("maas.reserveAddress", () => maas.reserveAddress(reservation));
  } catch (error) {
    const isTaken = error instanceof InfraError && error.reason === "ADDRESS_TAKEN";
    if (!isTaken) {
      throw error;
    }
    // By an attempt before this one, whose answer was lost.
    if (!(await maas.addresses()).includes(address)) {
      throw new InfraError(
        "ADDRESS_TAKEN",
        `the address ${address} of the cluster is taken in MAAS by somebody else`,
      );
    }
  }
}

/** Gives the address of a cluster back whose last machine is gone. @throws InfraError as MAAS does */
export async function releaseEndpoint({
  cluster,
  tools,
  change,
}: Pick<Pass, "cluster" | "tools" | "change">): Promise<void> {
  const { endpoint } = cluster;
  if (endpoint !== undefined) {
    await change("maas.releaseAddress", () => tools.maas.releaseAddress(endpoint));
  }
}
