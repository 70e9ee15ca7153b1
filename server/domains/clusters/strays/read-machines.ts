import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { MaasAdapter } from "../../../../adapters/maas/adapter.ts";
import type { MaasMachine } from "../../../../adapters/maas/machine.ts";
import type { ClusterWithSlots } from "../../../store/cluster-rows.ts";
import type { Store } from "../../../store/store.ts";
import { agentNameOf, markedSlotOf, marksFrom } from "../machine-marks.ts";
import type { KnownSlots, SeenMachine } from "./judge-machine.ts";

/** A machine that many slots have had is not asked for by all of their names: the call that took it is one of the last. */
const maxAgentNames = 20;

/** Machines of the gateway's account, and what the store knew of them afterwards. */
export interface MachineReading {
  readonly seen: readonly SeenMachine[];
  readonly known: KnownSlots;
}

/** By name. */
export type KnownClusters = ReadonlyMap<string, ClusterWithSlots>;

/** The same of one machine. */
export interface OneMachineReading {
  readonly seen: SeenMachine;
  readonly known: KnownSlots;
}

/** Reads MAAS and the store together: always MAAS first, since what is taken is written down before. */
export interface MachineReader {
  /** @throws InfraError as MAAS and the store do */
  all(signal?: AbortSignal): Promise<MachineReading>;
  /**
   * One as it is now.
   * @throws InfraError STRAY_NOT_FOUND, INVALID_FIELD, and as MAAS and the store do
   */
  one(systemId: string, signal?: AbortSignal): Promise<OneMachineReading>;
  /**
   * The same again, as it is now, under the same agent name if it was found by one; undefined when it is the account's no more.
   * @throws InfraError as MAAS and the store do
   */
  again(seen: SeenMachine, signal?: AbortSignal): Promise<OneMachineReading | undefined>;
  /**
   * Those clusters of this MAAS that are written on the machines.
   * @throws InfraError as the store does
   */
  clustersOf(seen: readonly SeenMachine[]): Promise<KnownClusters>;
}

export function createMachineReader({
  store,
  maas,
}: {
  readonly store: Pick<Store, "run">;
  readonly maas: Pick<MaasAdapter, "url" | "whoami" | "machine" | "machines">;
}): MachineReader {
  async function know(seen: readonly SeenMachine[]): Promise<KnownSlots> {
    const systemIds = seen.map(({ machine }) => machine.systemId);
    const named = seen.flatMap(({ marks, agentSlot }) => marks?.slotUid ?? agentSlot ?? []);
    const slotUids = [...new Set(named)];
    const { installationId, sequence } = await store.run("clusters.installation", {});
    return { installationId, sequence, ...(await store.run("clusters.trace", { systemIds, slotUids })) };
  }

  /** MAAS tells no agent name, but finds machines by one: those of the slots that were to take it of late are asked for. */
  async function agentSlotOf(
    { machine, marks }: SeenMachine,
    { installationId, slots, candidates }: KnownSlots,
    signal: AbortSignal | undefined,
  ): Promise<string | undefined> {
    const { systemId, status, annotations } = machine;
    if (marks !== undefined || markedSlotOf(annotations) !== undefined || status !== "allocated") {
      return undefined;
    }
    const had = slots.filter((slot) => slot.systemId === systemId || slot.candidateId === systemId);
    const wished = candidates.filter((each) => each.systemId === systemId).map(({ slotUid }) => slotUid);
    const newestFirst = new Set([...wished, ...had.map(({ uid }) => uid).toReversed()]);
    for (const uid of [...newestFirst].slice(0, maxAgentNames)) {
      const agentName = agentNameOf(installationId, uid);
      const found = await maas.machines({ agentName, systemIds: [systemId] }, signal);
      if (found.length > 0) {
        return uid;
      }
    }
    return undefined;
  }

  async function withKnown(
    machines: readonly MaasMachine[],
    signal: AbortSignal | undefined,
  ): Promise<MachineReading> {
    const marked = machines.map(withMarks);
    const known = await know(marked);
    const seen: SeenMachine[] = [];
    for (const each of marked) {
      seen.push({ ...each, agentSlot: await agentSlotOf(each, known, signal) });
    }
    // A slot that is found by its agent name alone may not be among those of the machines.
    return { seen, known: seen.some(({ agentSlot }) => agentSlot !== undefined) ? await know(seen) : known };
  }

  return {
    async all(signal) {
      const { username } = await maas.whoami(signal);
      return withKnown(await maas.machines({ owner: username }, signal), signal);
    },

    async one(systemId, signal) {
      const [{ username }, machine] = await Promise.all([
        maas.whoami(signal),
        maas.machine(systemId, signal).catch((error: unknown) => {
          throw isMissing(error) ? strayNotFound(systemId) : error;
        }),
      ]);
      if (machine.owner !== username) {
        throw strayNotFound(systemId);
      }
      const seen = withMarks(machine);
      return { seen, known: await know([seen]) };
    },

    async again({ machine: { systemId }, agentSlot }, signal) {
      const [{ username }, { installationId }] = await Promise.all([
        maas.whoami(signal),
        store.run("clusters.installation", {}),
      ]);
      const agentName = agentSlot === undefined ? {} : { agentName: agentNameOf(installationId, agentSlot) };
      const filter = { owner: username, systemIds: [systemId], ...agentName };
      const [machine] = await maas.machines(filter, signal);
      if (machine === undefined) {
        return undefined;
      }
      const marked = withMarks(machine);
      const seen = markedSlotOf(machine.annotations) === undefined ? { ...marked, agentSlot } : marked;
      return { seen, known: await know([seen]) };
    },

    async clustersOf(seen) {
      const names = [...new Set(seen.flatMap(({ marks }) => marks?.cluster ?? []))];
      const states = names.length === 0 ? [] : await store.run("clusters.states", { names });
      const ours = states.filter(({ cluster }) => cluster.backend === maas.url);
      return new Map(ours.map((found) => [found.cluster.name, found]));
    },
  };
}

function withMarks(machine: MaasMachine): SeenMachine {
  return { machine, marks: marksFrom(machine.annotations), agentSlot: undefined };
}

function isMissing(error: unknown): boolean {
  return error instanceof InfraError && ["MACHINE_NOT_FOUND", "MACHINE_TAKEN"].includes(error.reason);
}

function strayNotFound(systemId: string): InfraError {
  return new InfraError("STRAY_NOT_FOUND", `MAAS has given this gateway no machine ${systemId}`, {
    resource: resourceOf(systemId),
  });
}

/** How a machine of MAAS is named in errors, plans and the audit log. */
export function resourceOf(systemId: string): string {
  return `maas/machines/${systemId}`;
}
