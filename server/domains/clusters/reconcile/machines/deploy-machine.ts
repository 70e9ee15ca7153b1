import { hasReason, InfraError } from "../../../../../adapters/host/infra-error.ts";
import type { MaasMachine } from "../../../../../adapters/maas/machine.ts";
import { maasReasons } from "../../../../../adapters/maas/reasons.ts";
import { clusterReasons } from "../../reasons.ts";
import type { SlotRecord } from "../../store/records.ts";
import type { Pass } from "../pass.ts";
import { failed, leaving, movedTo, type StepEnd, waiting } from "../step.ts";
import { userDataOf } from "../user-data.ts";
import { seriesOf } from "./choose-machine.ts";
import { goneMachine } from "./gone-machine.ts";
import { agentNameOf, markedSlotOf, marksOf } from "./machine-marks.ts";
import { isLeavingMaas } from "./own-machine.ts";

/** How often an installation that was aborted in MAAS is restarted. */
const maxAborts = 3;

/**
 * Handles the state `deploying`: starts the machine's installation once, and waits for it to finish. The intent was stored
 * before.
 */
export async function deployMachine(pass: Pass, slot: SlotRecord): Promise<StepEnd> {
  const own = await pass.inspect(slot);
  if (own.is === "gone") {
    return goneMachine(pass, slot, own);
  }
  const { machine } = own;
  if (markedSlotOf(machine.annotations) === undefined && !isLeavingMaas(machine) && !machine.isLocked) {
    return markAgain(pass, slot);
  }
  const { status, statusMessage, hostname } = machine;
  const ipAddress = machine.ipAddresses[0] ?? slot.ipAddress;
  const address = ipAddress === undefined ? {} : { ipAddress };
  if (status === "deployed") {
    return movedTo("booted", { ...address, history: { message: `${hostname} is installed` } });
  }
  if (isLeavingMaas(machine)) {
    return { ...leaving("it is being released in MAAS"), ...address };
  }
  if (status === "failedDeployment") {
    return failed(`MAAS could not install ${hostname}${statusMessage === "" ? "" : `: ${statusMessage}`}`);
  }
  const { deployTimeoutMs } = pass.tools.settings;
  if (pass.nowMs() - slot.stateSinceMs > deployTimeoutMs) {
    const message = `${hostname} was not installed within ${Math.ceil(deployTimeoutMs / 60_000)} minutes`;
    return status === "allocated" ? leaving(message) : failed(message);
  }
  if (status === "allocated") {
    return deploy(pass, slot, machine);
  }
  const message =
    status === "deploying" ? `${hostname} is being installed` : `${hostname} is ${status} in MAAS`;
  const fullMessage = machine.isLocked ? `${message}, and locked` : message;
  return { ...waiting(fullMessage), ...address, attempts: slot.attempts };
}

/**
 * The machine was released and free for a moment; the deploy call then allocated it again, with its agent name only and
 * without annotations.
 */
async function markAgain(pass: Pass, slot: SlotRecord): Promise<StepEnd> {
  const { maas, installationId } = pass.tools;
  const marks = marksOf(await installationId(), slot);
  const own = await pass.changeMachine(slot, "maas.annotate", ({ systemId }) =>
    maas.annotate(systemId, marks),
  );
  return own.is === "gone" ? goneMachine(pass, slot, own) : "again";
}

async function deploy(pass: Pass, slot: SlotRecord, machine: MaasMachine): Promise<StepEnd> {
  const { maas, installationId } = pass.tools;
  // A machine gets its address when its installation starts.
  const wasAborted = slot.ipAddress !== undefined;
  if (wasAborted && slot.attempts >= maxAborts) {
    return leaving(`the installation of ${machine.hostname} was aborted repeatedly`);
  }
  const series = await seriesOf(pass, slot);
  if (series === undefined) {
    const message = `MAAS no longer has a Kubernetes ${slot.k8sVersion} image for ${slot.instanceType} machines`;
    throw new InfraError(clusterReasons.NO_IMAGE, message);
  }
  let userData: string;
  try {
    userData = await userDataOf(pass, slot, machine);
  } catch (error) {
    // The cluster's address was lost since it was reserved. The cluster gets a new one once no machine is about to be installed
    // with this one.
    if (hasReason(error, maasReasons.ADDRESS_TAKEN, maasReasons.MAAS_REFUSED)) {
      return leaving(error.message);
    }
    throw error;
  }
  const agentName = agentNameOf(await installationId(), slot.uid);
  const comment = `hostplane: for cluster ${slot.cluster}`;
  try {
    const done = await pass.changeMachine(slot, "maas.deploy", async ({ systemId, status }) => {
      if (status === "allocated") {
        await maas.deploy(systemId, { series, agentName, userData, comment });
      }
    });
    if (done.is === "gone") {
      return goneMachine(pass, slot, done);
    }
  } catch (error) {
    // The machine is being installed already: an earlier call did succeed.
    if (!(hasReason(error, maasReasons.MACHINE_STATE) && (await hasDeployStarted(pass, machine)))) {
      throw error;
    }
  }
  const message = `${machine.hostname} is being installed`;
  if (!wasAborted) {
    return { ...waiting(message), attempts: slot.attempts, history: { message } };
  }
  const again = `its installation was aborted in MAAS and is being restarted`;
  return { ...waiting(message), attempts: slot.attempts + 1, history: { message: again } };
}

async function hasDeployStarted({ tools }: Pass, { systemId }: MaasMachine): Promise<boolean> {
  const { status } = await tools.maas.machine(systemId);
  return status === "deploying" || status === "deployed";
}
