import type { MaasSandbox } from "../../../../../adapters/maas/sandbox.ts";
import { agentNameOf } from "../../../../../server/domains/clusters/reconcile/machines/machine-marks.ts";
import type { StraysUnderTest } from "./strays-under-test.ts";

/** Returns the agent name under which a slot allocates machines. */
export async function agentName({ store }: StraysUnderTest, slotUid: string): Promise<string> {
  const { installationId } = await store.run("clusters.installation", {});
  return agentNameOf(installationId, slotUid);
}

/** Creates a candidate that the slot did not get, as far as its gateway knows. */
export async function loseCandidate(under: StraysUnderTest, uid: string): Promise<string> {
  const systemId = await under.take("prod", uid, "candidate");
  await under.writeSlots("prod", { uid, from: "candidate", state: "wanted", candidateId: null });
  return systemId;
}

/** Releases a slot whose machine stays allocated and marked. */
export async function leaveTombstone(under: StraysUnderTest): Promise<string> {
  const systemId = await under.take("prod", "s1", "annotated");
  await under.writeSlots("prod", { uid: "s1", from: "annotated", state: "released" });
  return systemId;
}

/** Returns the status of a machine in MAAS. */
export function statusOf(maas: MaasSandbox, systemId: string): string | undefined {
  return maas.fake.region.machine(systemId)?.status;
}
