import type { MaasSandbox } from "../../../../../adapters/maas/sandbox.ts";
import { agentNameOf } from "../../../../../server/domains/clusters/machine-marks.ts";
import type { StraysUnderTest } from "./strays-under-test.ts";

/** The name that a slot takes machines under. */
export async function agentName({ store }: StraysUnderTest, slotUid: string): Promise<string> {
  const { installationId } = await store.run("clusters.installation", {});
  return agentNameOf(installationId, slotUid);
}

/** A candidate that the slot did not get, as far as its gateway knows. */
export async function loseCandidate(under: StraysUnderTest, uid: string): Promise<string> {
  const systemId = await under.take("prod", uid, "candidate");
  await under.writeSlots("prod", { uid, from: "candidate", state: "wanted", candidateId: null });
  return systemId;
}

/** A slot that is released with its machine, which somebody takes again under the slot's marks. */
export async function leaveTombstone(under: StraysUnderTest): Promise<string> {
  const systemId = await under.take("prod", "s1", "annotated");
  await under.writeSlots("prod", { uid: "s1", from: "annotated", state: "released" });
  return systemId;
}

/** The status of a machine in MAAS. */
export function statusOf(maas: MaasSandbox, systemId: string): string | undefined {
  return maas.fake.region.machine(systemId)?.status;
}
