import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  HypervisorCapabilities,
  HypervisorState,
  type ListHypervisorsResponseHypervisorSchema,
  OperationState,
} from "../../../gen/operations/v1/operations_pb.ts";
import type { OperationViewMessage } from "../../operations/operation-view.ts";
import type { Hypervisor } from "./inventory.ts";

const numberOfState: Readonly<Record<Hypervisor["state"], HypervisorState>> = {
  running: HypervisorState.AVAILABLE_TO_DESTROY,
  off: HypervisorState.AVAILABLE_TO_CREATE,
  unknown: HypervisorState.UNKNOWN,
};

const numberOfCapability: Readonly<Record<Hypervisor["capabilities"][number], HypervisorCapabilities>> = {
  storage: HypervisorCapabilities.STORAGE,
  gpu: HypervisorCapabilities.GPU,
};

const numberOfOperationState: Readonly<Record<OperationViewMessage["state"], OperationState>> = {
  scheduled: OperationState.SCHEDULED,
  active: OperationState.ACTIVE,
  completed: OperationState.COMPLETED,
  failed: OperationState.FAILED,
};

/** Converts a hypervisor to its published message. */
export function hypervisorMessage(
  hypervisor: Hypervisor,
): MessageInitShape<typeof ListHypervisorsResponseHypervisorSchema> {
  const { id, threadCount, memoryMib, capabilities, state, gpus } = hypervisor;
  return {
    id,
    cpu: threadCount,
    // The field has 32 bits, and 2^31 MiB is 2 PiB.
    ram: Math.min(memoryMib, 2 ** 31 - 1),
    capabilities: capabilities.map((capability) => numberOfCapability[capability]),
    state: numberOfState[state],
    gpus: gpus.map(({ brand, model }) => ({ brand, model })),
  };
}

/** Converts a view of operations to the messages of a published stream. */
export async function* progressMessages(
  view: AsyncIterable<OperationViewMessage>,
): AsyncGenerator<{ readonly state: OperationState; readonly msg: string }, void> {
  for await (const { state, message } of view) {
    yield { state: numberOfOperationState[state], msg: message };
  }
}
