import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import type { MaasMachine } from "../../../../../adapters/maas/machine.ts";
import { maasReasons } from "../../../../../adapters/maas/reasons.ts";
import type { SlotRecord } from "../../store/records.ts";
import { retryDelayMs } from "../delays.ts";
import type { Pass } from "../pass.ts";
import { movedTo, type StepEnd } from "../step.ts";
import { constraintsOf } from "./choose-machine.ts";
import { agentNameOf } from "./machine-marks.ts";

/**
 * Handles the state `candidate`: allocates the machine under an agent name unique to the slot. An earlier call, possibly of
 * another gateway, may have succeeded without a response. MAAS is therefore first searched for a machine with that name, so
 * that a retry can never allocate a second one.
 */
export async function takeMachine(pass: Pass, slot: SlotRecord): Promise<StepEnd> {
  const { maas, settings, changes } = pass.tools;
  const { candidateId } = slot;
  if (candidateId === undefined) {
    return movedTo("wanted");
  }
  const before = await takenMachine(pass, slot);
  if (before !== undefined) {
    return taken(before);
  }
  const agentName = agentNameOf(await pass.tools.installationId(), slot.uid);
  const constraints = constraintsOf(slot, settings);
  const comment = `hostplane: for cluster ${slot.cluster}`;
  try {
    const machine = await changes.run(() =>
      pass.change("maas.allocate", () =>
        maas.allocate({ systemId: candidateId, agentName, constraints, comment }),
      ),
    );
    return taken(machine);
  } catch (error) {
    if (!(error instanceof InfraError) || !error.is(maasReasons.MACHINE_TAKEN, maasReasons.NO_MACHINE)) {
      throw error;
    }
    const after = await takenMachine(pass, slot);
    const attempts = slot.attempts + 1;
    return after === undefined
      ? movedTo("wanted", {
          candidateId: null,
          attempts,
          nextTryInMs: retryDelayMs(attempts, settings.pollMs),
          history: { message: `${candidateId} was no longer free` },
        })
      : taken(after);
  }
}

/** Returns the machine allocated for a slot; undefined when there is none. @throws InfraError as MAAS does */
export async function takenMachine(pass: Pass, slot: SlotRecord): Promise<MaasMachine | undefined> {
  const { maas, account, installationId } = pass.tools;
  const owner = await account();
  const agentName = agentNameOf(await installationId(), slot.uid);
  const found = (await maas.machines({ owner, agentName })).filter((machine) => machine.owner === owner);
  return found.find(({ systemId }) => systemId === slot.candidateId) ?? found[0];
}

function taken({ systemId, hostname }: MaasMachine) {
  const history = { message: `${hostname} (${systemId}) was allocated` };
  return movedTo("allocated", { candidateId: systemId, systemId, hostname, history });
}
