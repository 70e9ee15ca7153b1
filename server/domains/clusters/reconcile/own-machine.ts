import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { MaasAdapter } from "../../../../adapters/maas/adapter.ts";
import type { MaasMachine, MaasMachineStatus } from "../../../../adapters/maas/machine.ts";
import { agentNameOf, type MachineMarks, markedSlotOf, marksFrom } from "../machine-marks.ts";

/** Whose a machine is, as MAAS has it. */
export type Ownership = { readonly is: "ours"; readonly machine: MaasMachine } | GoneMachine;

export interface GoneMachine {
  readonly is: "gone";
  /** A clause about the machine, as `it is ready`. */
  readonly why: string;
  /** What is written on it, when that names another slot. */
  readonly marks?: MachineMarks;
}

/** That nobody runs it any more for whom it was taken. */
export function goneBecause(why: string): GoneMachine {
  return { is: "gone", why };
}

const leaving: readonly MaasMachineStatus[] = [
  "releasing",
  "failedReleasing",
  "diskErasing",
  "failedDiskErasing",
];

/** Whether MAAS gives a machine back, or has tried to: its owner stays, and its agent name is gone. */
export function isLeavingMaas({ status }: MaasMachine): boolean {
  return leaving.includes(status);
}

/**
 * Asks MAAS whether a machine is a slot's: the account's, and marked by the slot, or not marked and found by the slot's agent name.
 * @param account that took the machines of the store's clusters (see `readAccount`)
 * @throws InfraError as `MaasAdapter.machine`, but MACHINE_NOT_FOUND; MAAS_DENIED when it is the slot's, of another account;
 *   MACHINE_STATE when it is the account's and installed, and nothing tells what for
 */
export async function ownMachine(
  maas: Pick<MaasAdapter, "machine" | "machines">,
  account: string,
  installationId: string,
  slot: { readonly uid: string; readonly systemId: string; readonly isInstalled: boolean },
): Promise<Ownership> {
  const { uid, systemId } = slot;
  let machine: MaasMachine;
  try {
    machine = await maas.machine(systemId);
  } catch (error) {
    if (error instanceof InfraError && error.reason === "MACHINE_NOT_FOUND") {
      return goneBecause("MAAS has no such machine any more");
    }
    // The second answer shows that the first was not that of a proxy.
    if (isHidden(error) && (await maas.machines({ systemIds: [systemId] })).length === 0) {
      return goneBecause("another user has it in MAAS");
    }
    throw error;
  }
  const { owner, annotations } = machine;
  if (owner === undefined) {
    return goneBecause("nobody has it in MAAS any more");
  }
  const marked = markedSlotOf(annotations);
  if (owner !== account) {
    if (marked === uid) {
      // Marks go with the release of a machine, so it was never released since: it is the API key that is another's.
      const message = `${machine.hostname} is ${owner}'s in MAAS, and the gateway's API key is ${account}'s: give it one of ${owner}`;
      throw new InfraError("MAAS_DENIED", message, { resource: `maas/machines/${systemId}` });
    }
    return goneBecause(`it is ${owner}'s in MAAS`);
  }
  if (marked !== undefined) {
    return marked === uid
      ? { is: "ours", machine }
      : { ...goneBecause("it is marked as another's in MAAS"), ...marksOfOther(machine) };
  }
  if (isLeavingMaas(machine)) {
    // Its agent name is gone, so it cannot be told from another's; whoever released it, that it be released is all we could want.
    return { is: "ours", machine };
  }
  const found = await maas.machines({ agentName: agentNameOf(installationId, uid), systemIds: [systemId] });
  if (found.some((each) => each.systemId === systemId && each.owner === account)) {
    return { is: "ours", machine };
  }
  if (slot.isInstalled) {
    // The account still has it, so it was never given back: that nothing tells whose it is proves nothing.
    const message = `${machine.hostname} is ${account}'s in MAAS, and nothing there tells any more what for: release it there, or annotate it with hostplane-slot=${uid}`;
    throw new InfraError("MACHINE_STATE", message, { resource: `maas/machines/${systemId}` });
  }
  return goneBecause("its marks in MAAS are gone");
}

function isHidden(error: unknown): boolean {
  return error instanceof InfraError && error.reason === "MACHINE_TAKEN";
}

function marksOfOther(machine: MaasMachine): Pick<GoneMachine, "marks"> {
  const marks = isLeavingMaas(machine) ? undefined : marksFrom(machine.annotations);
  return marks === undefined ? {} : { marks };
}
