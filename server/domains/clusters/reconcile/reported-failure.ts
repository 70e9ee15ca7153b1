import type { MaasAdapter } from "../../../../adapters/maas/adapter.ts";
import type { MaasMachine } from "../../../../adapters/maas/machine.ts";
import { nodeFailurePrefix } from "../bootstrap/node-script.ts";

/** Limit of events to read: cloud-init reports the start of each of its modules. */
const maxEvents = 300;
const failures = ["Node post-installation failure", "Node installation failure"];

/**
 * Returns the failure that a machine has reported to MAAS during its bootstrap since it was installed; undefined when it did
 * not fail.
 * @throws InfraError as `MaasAdapter.events`
 */
export async function reportedFailure(
  { tools }: { readonly tools: { readonly maas: Pick<MaasAdapter, "events"> } },
  { systemId }: Pick<MaasMachine, "systemId">,
): Promise<string | undefined> {
  const events = await tools.maas.events(systemId, maxEvents);
  const startIndex = events.findIndex(({ type }) => type === "Deploying");
  const failed = events
    .slice(0, startIndex === -1 ? undefined : startIndex)
    .filter(({ type }) => failures.includes(type));
  const prefix = `'cloudinit' ${nodeFailurePrefix}`;
  const reported = failed.find(({ description }) => description.startsWith(prefix));
  if (reported !== undefined) {
    return reported.description.slice(prefix.length);
  }
  // Without the script's own message, as with an image whose cloud-init cannot report it. Other modules also fail on healthy
  // machines.
  return failed.some(({ description }) => /config-scripts[-_]user/.test(description))
    ? "its user data failed; see /var/log/cloud-init-output.log on the machine"
    : undefined;
}
