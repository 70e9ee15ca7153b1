import type { MaasMachine } from "../../../../adapters/maas/machine.ts";
import type { MachineMarks } from "../reconcile/machines/machine-marks.ts";
import type { SlotRecord } from "../store/records.ts";

/** A machine allocated to the gateway's account, as read from MAAS. */
export interface SeenMachine {
  readonly machine: MaasMachine;
  /** Its marks; undefined when they are missing or not in the form that a gateway writes. */
  readonly marks: MachineMarks | undefined;
  /** The slot whose agent name it has; read only for an allocated machine without marks. */
  readonly agentSlot: string | undefined;
}

/** The store's facts about such machines. They are read after MAAS, since an allocation is stored before it is made. */
export interface KnownSlots {
  readonly installationId: string;
  /** The highest sequence number that the store has assigned. */
  readonly sequence: number;
  /** All slots that have or had one of the machines, or are named in its marks. */
  readonly slots: readonly SlotRecord[];
  /** Candidates of slots according to their history, most recent first. */
  readonly candidates: readonly { readonly slotUid: string; readonly systemId: string }[];
}

export interface StrayVerdict {
  readonly is: "stray";
  /** Whether this gateway's store allocated it, as far as MAAS shows. */
  readonly isOurs: boolean;
  /** Whether it may be released automatically. */
  readonly isReleasable: boolean;
  /** What is known about it, for people: a clause without a full stop. */
  readonly message: string;
}

export type MachineVerdict =
  /** A slot that is not released has it or may have it. */
  { readonly is: "inUse"; readonly slot: SlotRecord } | StrayVerdict;

/**
 * Judges how a machine relates to the clusters. It may be released automatically only if that cannot lose anything: in MAAS
 * it is allocated and nothing more, according to the store it was the slot's machine or candidate and no longer is, and the
 * store is up to date with MAAS (`isReportOnly` is true otherwise).
 */
export function judgeMachine(seen: SeenMachine, known: KnownSlots, isReportOnly: boolean): MachineVerdict {
  const { machine, marks, agentSlot } = seen;
  const user = known.slots.find((slot) => slot.state !== "released" && mayHave(slot, machine.systemId));
  if (user !== undefined) {
    return { is: "inUse", slot: user };
  }
  if (marks !== undefined && marks.installationId !== known.installationId) {
    return foreign(`it was allocated by another gateway (installation ${marks.installationId})`);
  }
  const slotUid = marks?.slotUid ?? agentSlot;
  if (slotUid === undefined) {
    return foreign("nothing in MAAS shows that this gateway allocated it");
  }
  const isUntouched = machine.status === "allocated" && !machine.isLocked;
  const isReleasable = isUntouched && !isReportOnly && hasTombstone(slotUid, machine.systemId, known);
  return {
    is: "stray",
    isOurs: true,
    isReleasable,
    message: `${historyOf(slotUid, machine.systemId, known)}${isReleasable ? "; it is released automatically" : ""}`,
  };
}

/**
 * Reports whether the store must have lost its record of a machine: the machine is marked with this installation and a
 * sequence number that the store has not assigned yet, or with a slot that never had it according to the store. That happens
 * only if the store is older than MAAS.
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

/** A slot in use with another machine or none is not proof of a release, unless its history names this machine. */
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
    return "this gateway allocated it, but its database has no record of that";
  }
  if (slot.state !== "released") {
    const other = slot.systemId ?? slot.candidateId;
    return `cluster ${slot.cluster} has ${other === undefined ? "no machine yet" : `machine ${other}`} in its place`;
  }
  return hasTombstone(slotUid, id, known)
    ? `cluster ${slot.cluster} no longer needs it`
    : `cluster ${slot.cluster} had another machine in its place`;
}
