import { hasReason } from "../../../../../adapters/host/infra-error.ts";
import type { MaasConstraints, MaasMachine } from "../../../../../adapters/maas/machine.ts";
import { maasReasons } from "../../../../../adapters/maas/reasons.ts";
import { instanceTypeFrom } from "../../bootstrap/instance-type.ts";
import { kubernetesVersionFrom } from "../../bootstrap/kubernetes-version.ts";
import { clusterReasons } from "../../reasons.ts";
import type { ClusterSettings } from "../../specs/cluster-settings.ts";
import type { SlotRecord } from "../../store/records.ts";
import type { Pass } from "../pass.ts";
import { nodeNameOf } from "../plan/cluster-view.ts";
import { movedTo, type StepEnd, withoutMachine } from "../step.ts";
import { isLikeThat } from "./constraints.ts";

const hourMs = 3_600_000;

/**
 * Handles the state `wanted`: finds a machine and stores it as the candidate before it is allocated. A machine that failed
 * within the last hour is used only if there is no other, and not at all if it failed more than once.
 */
export async function chooseMachine(pass: Pass, slot: SlotRecord): Promise<StepEnd> {
  // Without an address nothing can be installed, and an allocated machine would be unavailable to others.
  await pass.keepEndpoint();
  const series = await seriesOf(pass, slot);
  if (series === undefined) {
    const message = `MAAS has no Kubernetes ${slot.k8sVersion} image for ${slot.instanceType} machines`;
    return { ...withoutMachine(pass, slot, message), reason: clusterReasons.NO_IMAGE.id };
  }
  return pass.tools.choices.run(async () => {
    const machine = await findMachine(pass, slot);
    if (machine === undefined) {
      return withoutMachine(pass, slot, `no free machine matches: ${describe(slot, pass.tools.settings)}`);
    }
    const message = `${machine.hostname} (${machine.systemId}) was selected`;
    const facts = {
      candidateId: machine.systemId,
      takeSequence: true,
      attempts: slot.attempts,
      history: { message },
    };
    // Written within the turn, so that the next choice sees it.
    await pass.slots.write(slot, movedTo("candidate", facts));
    return "again";
  });
}

/** Returns the name of the image for a slot; undefined when MAAS has none. @throws InfraError as MAAS does */
export async function seriesOf(pass: Pass, slot: SlotRecord): Promise<string | undefined> {
  const type = instanceTypeFrom(slot.instanceType);
  const version = kubernetesVersionFrom(slot.k8sVersion);
  const images = await pass.tools.images.read();
  return type === undefined || version === undefined ? undefined : images.seriesOf(type, version);
}

/** Returns the constraints for the machine of a slot. */
export function constraintsOf({ instanceType }: SlotRecord, { machines }: ClusterSettings): MaasConstraints {
  return { ...machines, tags: [instanceType] };
}

async function findMachine(pass: Pass, slot: SlotRecord): Promise<MaasMachine | undefined> {
  const { maas, settings, noneUntilMs } = pass.tools;
  const constraints = constraintsOf(slot, settings);
  const kind = JSON.stringify(constraints);
  if (performance.now() < (noneUntilMs.get(kind) ?? 0)) {
    return undefined;
  }
  let named: MaasMachine;
  try {
    named = await maas.choose(constraints);
  } catch (error) {
    if (hasReason(error, maasReasons.NO_MACHINE)) {
      noneUntilMs.set(kind, performance.now() + settings.pollMs);
      return undefined;
    }
    throw error;
  }
  if ((await ranked(pass, slot, [named])).good.length > 0) {
    return named;
  }
  // MAAS suggests the same machine each time, and cannot be asked to exclude one.
  const free = (await maas.machines()).filter((machine) => isLikeThat(machine, constraints));
  const { good, doubtful } = await ranked(pass, slot, free);
  return good[0] ?? doubtful[0];
}

/** Ranks machines that no slot uses or may use. @returns machines without known failures, and those that failed once */
async function ranked(pass: Pass, slot: SlotRecord, machines: readonly MaasMachine[]) {
  const { store } = pass.tools;
  const systemIds = machines.map(({ systemId }) => systemId);
  const [{ slots }, failures] = await Promise.all([
    store.run("clusters.trace", { systemIds, slotUids: [] }),
    store.run("clusters.failures", { systemIds, sinceMsAgo: hourMs }),
  ]);
  const taken = new Set(
    slots
      .filter(({ state, uid }) => state !== "released" && uid !== slot.uid)
      .flatMap(({ systemId, candidateId }) => [systemId, candidateId]),
  );
  // In MAAS, machines in different domains may have the same name; in a cluster they may not.
  const names = new Set(pass.slots.all().map(nodeNameOf));
  const counts = new Map(failures.map(({ systemId, count }) => [systemId, count]));
  const free = machines.filter((machine) => !taken.has(machine.systemId) && !names.has(nodeNameOf(machine)));
  return {
    good: free.filter(({ systemId }) => !counts.has(systemId)),
    doubtful: free.filter(({ systemId }) => counts.get(systemId) === 1),
  };
}

function describe({ instanceType }: SlotRecord, { machines }: ClusterSettings): string {
  const { pool, zone, architecture, cpuCount, memoryMib } = machines;
  const more = [
    pool === undefined ? "" : `in pool ${pool}`,
    zone === undefined ? "" : `in zone ${zone}`,
    architecture === undefined ? "" : `of ${architecture}`,
    cpuCount === undefined ? "" : `with ${cpuCount} CPUs`,
    memoryMib === undefined ? "" : `with ${memoryMib} MiB of memory`,
  ];
  return [instanceType, ...more].filter((words) => words !== "").join(" ");
}
