import type { MaasMachine } from "../../../../adapters/maas/machine.ts";
import type { SlotRecord } from "../../../store/cluster-records.ts";
import type { MachineMarks } from "../machine-marks.ts";

/** A machine that MAAS has given to the gateway's account. */
export interface SeenMachine {
  readonly machine: MaasMachine;
  /** What is written on it; undefined when that is nothing, or not what a gateway writes. */
  readonly marks: MachineMarks | undefined;
  /** The slot by whose agent name MAAS finds it; asked only of one that is allocated and has nothing written on it. */
  readonly agentSlot: string | undefined;
}

/** What the store knows of such machines. It is read after MAAS: what is taken is written down before. */
export interface KnownSlots {
  readonly installationId: string;
  /** The greatest number that it has given to a machine. */
  readonly sequence: number;
  /** All that have or had one of the machines, or are named on one. */
  readonly slots: readonly SlotRecord[];
  /** What slots were to take, as their history tells; what was heard of last comes first. */
  readonly candidates: readonly { readonly slotUid: string; readonly systemId: string }[];
}

export interface StrayVerdict {
  readonly is: "stray";
  /** Whether this gateway's store has taken it, as far as MAAS tells. */
  readonly isOurs: boolean;
  /** Whether it may be given back without anybody asking for that. */
  readonly isReleasable: boolean;
  /** What is known of it, for people: a clause without a full stop. */
  readonly message: string;
}

export type MachineVerdict =
  /** A slot that is not released has it, or may. */
  { readonly is: "inUse"; readonly slot: SlotRecord } | StrayVerdict;

/**
 * What a machine is to the clusters. It may be given back by itself only when nothing can be lost by that: MAAS says that it is
 * allocated and no more, and the store that it was this slot's and is no longer, or was to be; and the store knows all that MAAS
 * does (`isReportOnly` says otherwise).
 */
export function judgeMachine(seen: SeenMachine, known: KnownSlots, isReportOnly: boolean): MachineVerdict {
  const { machine, marks, agentSlot } = seen;
  const user = known.slots.find((slot) => slot.state !== "released" && mayHave(slot, machine.systemId));
  if (user !== undefined) {
    return { is: "inUse", slot: user };
  }
  if (marks !== undefined && marks.installationId !== known.installationId) {
    return foreign(`another gateway took it, of installation ${marks.installationId}`);
  }
  const slotUid = marks?.slotUid ?? agentSlot;
  if (slotUid === undefined) {
    return foreign("nothing in MAAS tells that this gateway took it");
  }
  const isUntouched = machine.status === "allocated" && !machine.isLocked;
  const isReleasable = isUntouched && !isReportOnly && hasTombstone(slotUid, machine.systemId, known);
  return {
    is: "stray",
    isOurs: true,
    isReleasable,
    message: `${historyOf(slotUid, machine.systemId, known)}${isReleasable ? "; it is given back by itself" : ""}`,
  };
}

/**
 * Whether MAAS has a machine that this store must have forgotten: one that is marked as this installation's with a number that
 * the store has not given out yet, or for a slot that never had it as far as the store knows. Nothing but an older state of the
 * store explains that.
 */
export function isUnexplained({ machine, marks }: SeenMachine, known: KnownSlots): boolean {
  if (marks === undefined || marks.installationId !== known.installationId) {
    return false;
  }
  const { systemId } = machine;
  const slot = known.slots.find(({ uid }) => uid === marks.slotUid);
  const isItsOwn = slot !== undefined && mayHave(slot, systemId);
  if (isItsOwn && slot.state !== "released") {
    return false;
  }
  return marks.sequence > known.sequence || !(isItsOwn || wasCandidate(marks.slotUid, systemId, known));
}

function mayHave({ systemId, candidateId }: SlotRecord, id: string): boolean {
  return systemId === id || candidateId === id;
}

function wasCandidate(slotUid: string, id: string, { candidates }: KnownSlots): boolean {
  return candidates.some((each) => each.slotUid === slotUid && each.systemId === id);
}

/** A slot that lives holds another machine, or none: it is no tombstone unless its history names this one. */
function hasTombstone(slotUid: string, id: string, known: KnownSlots): boolean {
  const slot = known.slots.find(({ uid }) => uid === slotUid);
  return wasCandidate(slotUid, id, known) || (slot?.state === "released" && mayHave(slot, id));
}

function foreign(message: string): StrayVerdict {
  return { is: "stray", isOurs: false, isReleasable: false, message };
}

function historyOf(slotUid: string, id: string, known: KnownSlots): string {
  const slot = known.slots.find(({ uid }) => uid === slotUid);
  if (slot === undefined) {
    return "this gateway took it, but its database does not know that";
  }
  if (slot.state !== "released") {
    const other = slot.systemId ?? slot.candidateId;
    return `cluster ${slot.cluster} has ${other === undefined ? "no machine yet" : `machine ${other}`} in its place`;
  }
  return hasTombstone(slotUid, id, known)
    ? `cluster ${slot.cluster} has no use for it any more`
    : `cluster ${slot.cluster} had another machine in its place`;
}
