import { hasReason, InfraError } from "../../../../adapters/host/infra-error.ts";
import type { MaasAdapter } from "../../../../adapters/maas/adapter.ts";
import type { MaasMachine } from "../../../../adapters/maas/machine.ts";
import { maasReasons } from "../../../../adapters/maas/reasons.ts";
import type { Store } from "../../../store/store.ts";
import { clusterReasons } from "../reasons.ts";
import { agentNameOf, markedSlotOf, marksFrom } from "../reconcile/machines/machine-marks.ts";
import type { ClusterWithSlots } from "../store/rows.ts";
import type { KnownSlots, SeenMachine } from "./judge-machine.ts";

/**
 * For a machine that many slots have had, only their latest agent names are searched: one of the last calls must have
 * allocated it.
 */
const maxAgentNames = 20;

/** Machines of the gateway's account, and what the store knew about them afterwards. */
export interface MachineReading {
  readonly seen: readonly SeenMachine[];
  readonly known: KnownSlots;
}

/** Clusters by name. */
export type KnownClusters = ReadonlyMap<string, ClusterWithSlots>;

/** The same for one machine. */
export interface OneMachineReading {
  readonly seen: SeenMachine;
  readonly known: KnownSlots;
}

/** Reads MAAS and the store together: MAAS always first, since an allocation is stored before it is made. */
export interface MachineReader {
  /** @throws InfraError as MAAS and the store do */
  all(signal?: AbortSignal): Promise<MachineReading>;
  /**
   * Reads one machine's current state.
   * @throws InfraError STRAY_NOT_FOUND, INVALID_FIELD, and as MAAS and the store do
   */
  one(systemId: string, signal?: AbortSignal): Promise<OneMachineReading>;
  /**
   * Reads the machine again, by its agent name if it was found by one; undefined when the account no longer owns it.
   * @throws InfraError as MAAS and the store do
   */
  again(seen: SeenMachine, signal?: AbortSignal): Promise<OneMachineReading | undefined>;
  /**
   * Returns the clusters of this MAAS that are named in the machines' marks.
   * @throws InfraError as the store does
   */
  clustersOf(seen: readonly SeenMachine[]): Promise<KnownClusters>;
}

/** @param parts of `maas` only what reads */
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

  /**
   * MAAS does not report agent names, but can search by them: tries those of the slots for which the machine was last a
   * candidate.
   */
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
    // A slot found only by its agent name may be missing from the slots read so far.
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
  return hasReason(error, maasReasons.MACHINE_NOT_FOUND, maasReasons.MACHINE_TAKEN);
}

function strayNotFound(systemId: string): InfraError {
  return new InfraError(
    clusterReasons.STRAY_NOT_FOUND,
    `machine ${systemId} is not allocated to this gateway in MAAS`,
    {
      resource: resourceOf(systemId),
    },
  );
}

/** Returns the resource name of a MAAS machine in errors, plans and the audit log. */
export function resourceOf(systemId: string): string {
  return `maas/machines/${systemId}`;
}
