import { hasReason, InfraError } from "../../../../adapters/host/infra-error.ts";
import { maasReasons } from "../../../../adapters/maas/reasons.ts";
import { rangeOfAddress } from "../addresses/range-of-address.ts";
import { clusterReasons } from "../reasons.ts";
import type { SlotState } from "../store/records.ts";
import type { Pass } from "./pass.ts";
import { hasControlPlaneData } from "./plan/slot-group.ts";

/** Errors with which MAAS permanently refuses to reserve an address for the gateway. */
const refusals = [maasReasons.ADDRESS_TAKEN, maasReasons.MAAS_REFUSED];
/** Maximum number of addresses tried in a pass; the next pass continues after them. */
const maxTries = 64;

/**
 * Reserves an address for a cluster that is not initialized yet, before any machine is allocated for it: its own address, or
 * the next one in the configuration that MAAS does not refuse. Does nothing for a cluster that is initialized or being
 * installed.
 * @throws InfraError CLUSTER_ENDPOINT_MISSING; ADDRESS_TAKEN or MAAS_REFUSED when MAAS refuses all addresses; and as MAAS and
 *   the store do
 */
export async function keepEndpoint(pass: Pass): Promise<void> {
  const { settings, keptEndpoints } = pass.tools;
  if (pass.cluster.endpoint === undefined || isInstalling(pass)) {
    return;
  }
  if (settings.kubeVipImage === undefined) {
    throw endpointUnconfigured(pass.cluster.endpoint);
  }
  const refused = new Map<string, InfraError>();
  for (;;) {
    const { endpoint = "", uid } = pass.cluster;
    const key = `${uid} ${endpoint}`;
    const refusal = keptEndpoints.has(key) ? undefined : await refusalOf(pass, endpoint);
    if (refusal === undefined) {
      keptEndpoints.add(key);
      return;
    }
    refused.set(endpoint, refusal);
    const tried = [...refused.keys()];
    if (refused.size >= maxTries || (await pass.moveEndpoint(tried)) === undefined) {
      throw allRefused(refused);
    }
  }
}

/** Reports whether a machine may already be configured with the address, so that it cannot change. */
function isInstalling({ cluster, slots }: Pass): boolean {
  const states: readonly SlotState[] = ["deploying", "booted", "joined", "draining"];
  const all = slots.all();
  return (
    hasControlPlaneData(cluster, all) ||
    all.some(({ pool, state }) => pool === undefined && states.includes(state))
  );
}

/**
 * Reserves the address of a cluster right before its first machine is installed.
 * @throws InfraError ADDRESS_TAKEN or MAAS_REFUSED when MAAS now refuses it; and as MAAS does
 */
export async function reserveEndpoint(pass: Pass): Promise<void> {
  const { endpoint, uid } = pass.cluster;
  const refusal = endpoint === undefined ? undefined : await refusalOf(pass, endpoint);
  if (refusal !== undefined) {
    pass.tools.keptEndpoints.delete(`${uid} ${endpoint}`);
    throw refusal;
  }
}

/** Returns the error for a cluster that has an address while `clusters.endpoint` lacks the settings for it. */
export function endpointUnconfigured(endpoint: string): InfraError {
  const message = `the cluster has the address ${endpoint}, but \`clusters.endpoint\` is not configured: restore its previous value`;
  return new InfraError(clusterReasons.CLUSTER_ENDPOINT_MISSING, message);
}

/** Returns why MAAS does not reserve an address for the cluster; undefined when the address is reserved, now or from before. */
async function refusalOf(pass: Pass, address: string): Promise<InfraError | undefined> {
  const { maas } = pass.tools;
  try {
    const reservation = { address, hostname: `${pass.cluster.name}-api` };
    await pass.change("maas.reserveAddress", () => maas.reserveAddress(reservation));
    return undefined;
  } catch (error) {
    if (!hasReason(error, ...refusals)) {
      throw error;
    }
    if (error.is(maasReasons.ADDRESS_TAKEN)) {
      // Reserved by an earlier attempt whose response was lost.
      const isOurs = (await maas.addresses()).includes(address);
      const message = `the cluster's address ${address} is already in use in MAAS`;
      return isOurs ? undefined : new InfraError(maasReasons.ADDRESS_TAKEN, message);
    }
    const range = rangeOfAddress(await maas.addressRanges(), address);
    // MAAS does not assign addresses of a reserved range to machines, unless the subnet is unmanaged.
    return range?.kind === "reserved" && range.subnet.isManaged ? undefined : error;
  }
}

function allRefused(refused: ReadonlyMap<string, InfraError>): InfraError {
  const errors = [...refused.values()];
  const [first] = errors.filter((error) => !error.is(maasReasons.ADDRESS_TAKEN));
  const number = `none of the ${refused.size} unused addresses of \`clusters.endpoint.addresses\``;
  const todo = "`hostplane doctor` shows the fix";
  return first === undefined
    ? new InfraError(maasReasons.ADDRESS_TAKEN, `${number} is free in MAAS; ${todo}`)
    : new InfraError(first.declared, `MAAS reserves ${number} for clusters; ${todo} (${first.message})`);
}

/** Releases the address of a cluster whose last machine is gone. @throws InfraError as MAAS does */
export async function releaseEndpoint({
  cluster,
  tools,
  change,
}: Pick<Pass, "cluster" | "tools" | "change">): Promise<void> {
  const { endpoint, uid } = cluster;
  if (endpoint !== undefined) {
    await change("maas.releaseAddress", () => tools.maas.releaseAddress(endpoint));
    tools.keptEndpoints.delete(`${uid} ${endpoint}`);
  }
}
