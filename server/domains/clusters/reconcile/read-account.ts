import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { MaasAdapter } from "../../../../adapters/maas/adapter.ts";
import { maasReasons } from "../../../../adapters/maas/reasons.ts";
import type { Store } from "../../../store/store.ts";
import { marksFrom } from "./machines/machine-marks.ts";

/**
 * Reads the account of the gateway's API key, and compares it with the account that allocated its clusters' machines. MAAS
 * hides machines of other users, so with another account all of them would appear to be gone. If the store does not know the
 * account yet, the key's account is stored only if MAAS shows it such a machine, or hides none of them.
 * @throws InfraError MAAS_DENIED when the machines belong to another account; and as MAAS and the store do
 */
export async function readAccount(
  maas: Pick<MaasAdapter, "url" | "whoami" | "machines">,
  store: Pick<Store, "run">,
): Promise<string> {
  const { username } = await maas.whoami();
  const backend = maas.url;
  const { account, hasMachines } = await store.run("clusters.account", { backend });
  if (account === username) {
    return username;
  }
  // An account may have been renamed in MAAS; its machines are then listed under the new name.
  if (hasMachines && !(await hasMarkedMachine(maas, store, username))) {
    if (account !== undefined) {
      const message = `the gateway's MAAS API key belongs to ${username}, but the machines of its clusters belong to ${account}: put an API key of ${account} into the file named by clusters.maas.apiKeyFile`;
      throw new InfraError(maasReasons.MAAS_DENIED, message);
    }
    const hidden = await hiddenMachines(maas, store);
    if (hidden.length > 0) {
      const message = `the gateway's MAAS API key belongs to ${username}, who cannot see the machines of its clusters in MAAS (${hidden.slice(0, 3).join(", ")}): put an API key of the account that allocated them into the file named by clusters.maas.apiKeyFile`;
      throw new InfraError(maasReasons.MAAS_DENIED, message);
    }
  }
  await store.run("clusters.setAccount", { backend, account: username });
  return username;
}

async function hasMarkedMachine(
  maas: Pick<MaasAdapter, "machines">,
  store: Pick<Store, "run">,
  owner: string,
): Promise<boolean> {
  const { installationId } = await store.run("clusters.installation", {});
  const machines = await maas.machines({ owner });
  return machines.some(({ annotations }) => marksFrom(annotations)?.installationId === installationId);
}

/**
 * Returns machines of the clusters that MAAS does not list: another user's, or deleted ones. A free machine does not reveal
 * the account.
 */
async function hiddenMachines(
  { url, machines }: Pick<MaasAdapter, "url" | "machines">,
  store: Pick<Store, "run">,
): Promise<readonly string[]> {
  const clusters = await store.run("clusters.states", {});
  const systemIds = clusters
    .filter(({ cluster }) => cluster.backend === url)
    .flatMap(({ slots }) => slots.flatMap(({ systemId }) => systemId ?? []));
  const listed = new Set((await machines({ systemIds })).map(({ systemId }) => systemId));
  return systemIds.filter((systemId) => !listed.has(systemId));
}
