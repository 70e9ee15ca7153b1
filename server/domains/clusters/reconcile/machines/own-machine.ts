import { hasReason, InfraError } from "../../../../../adapters/host/infra-error.ts";
import type { MaasAdapter } from "../../../../../adapters/maas/adapter.ts";
import type { MaasMachine, MaasMachineStatus } from "../../../../../adapters/maas/machine.ts";
import { maasReasons } from "../../../../../adapters/maas/reasons.ts";
import { agentNameOf, type MachineMarks, markedSlotOf, marksFrom } from "./machine-marks.ts";

/** Ownership of a machine according to MAAS. */
export type Ownership = { readonly is: "ours"; readonly machine: MaasMachine } | GoneMachine;

export interface GoneMachine {
  readonly is: "gone";
  /** A clause about the machine, such as `it is ready`. */
  readonly why: string;
  /** Its marks, when they name another slot. */
  readonly marks?: MachineMarks;
}

/** Returns that the machine no longer belongs to the slot. */
export function goneBecause(why: string): GoneMachine {
  return { is: "gone", why };
}

const leaving: readonly MaasMachineStatus[] = [
  "releasing",
  "failedReleasing",
  "diskErasing",
  "failedDiskErasing",
];

/** Reports whether MAAS is releasing a machine, or has tried to: it keeps its owner but has lost its agent name. */
export function isLeavingMaas({ status }: MaasMachine): boolean {
  return leaving.includes(status);
}

/**
 * Reads from MAAS whether a machine belongs to a slot: it is the account's and marked with the slot, or unmarked and found by
 * the slot's agent name.
 * @param account that allocated the machines of the store's clusters (see `readAccount`)
 * @throws InfraError as `MaasAdapter.machine`, except MACHINE_NOT_FOUND; MAAS_DENIED when it is the slot's but another
 *   account's; MACHINE_STATE when it is the account's and installed, but nothing identifies its purpose
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
    if (hasReason(error, maasReasons.MACHINE_NOT_FOUND)) {
      return goneBecause("it no longer exists in MAAS");
    }
    // The second call rules out that a proxy produced the first response.
    if (isHidden(error) && (await maas.machines({ systemIds: [systemId] })).length === 0) {
      return goneBecause("it belongs to another user in MAAS");
    }
    throw error;
  }
  const { owner, annotations } = machine;
  if (owner === undefined) {
    return goneBecause("it has no owner in MAAS any more");
  }
  const marked = markedSlotOf(annotations);
  if (owner !== account) {
    if (marked === uid) {
      // A release removes the marks, so the machine was never released: the API key belongs to another account.
      const message = `${machine.hostname} belongs to ${owner} in MAAS, but the gateway's API key belongs to ${account}: use an API key of ${owner}`;
      throw new InfraError(maasReasons.MAAS_DENIED, message, { resource: `maas/machines/${systemId}` });
    }
    return goneBecause(`it belongs to ${owner} in MAAS`);
  }
  if (marked !== undefined) {
    return marked === uid
      ? { is: "ours", machine }
      : { ...goneBecause("its annotations in MAAS name another slot"), ...marksOfOther(machine) };
  }
  if (isLeavingMaas(machine)) {
    // Without its agent name it cannot be distinguished from another slot's machine. It is being released already, which is
    // all that is needed.
    return { is: "ours", machine };
  }
  const found = await maas.machines({ agentName: agentNameOf(installationId, uid), systemIds: [systemId] });
  if (found.some((each) => each.systemId === systemId && each.owner === account)) {
    return { is: "ours", machine };
  }
  if (slot.isInstalled) {
    // The account still owns it, so it was never released: missing marks prove nothing.
    const message = `${machine.hostname} belongs to ${account} in MAAS, but its annotations are missing: release it there, or annotate it with hostplane-slot=${uid}`;
    throw new InfraError(maasReasons.MACHINE_STATE, message, { resource: `maas/machines/${systemId}` });
  }
  return goneBecause("its annotations in MAAS are gone");
}

function isHidden(error: unknown): boolean {
  return hasReason(error, maasReasons.MACHINE_TAKEN);
}

function marksOfOther(machine: MaasMachine): Pick<GoneMachine, "marks"> {
  const marks = isLeavingMaas(machine) ? undefined : marksFrom(machine.annotations);
  return marks === undefined ? {} : { marks };
}
