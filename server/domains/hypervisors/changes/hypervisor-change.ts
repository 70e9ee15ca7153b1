import type { LibvirtState } from "../../../../adapters/libvirt/adapter.ts";
import type { CheckedOperation } from "../../../domain/long-change.ts";
import type { Json, Operation } from "../../../operations/operation.ts";
import type { OperationKind } from "../../../operations/operation-kind.ts";
import type { Hypervisor } from "../inventory.ts";

/** What a change would do to one hypervisor. */
export interface CheckedHypervisor<Input extends Json>
  extends Pick<CheckedOperation<Input>, "plan" | "steps"> {
  readonly input: Input;
}

/** A change of one hypervisor. */
export interface HypervisorChange<Input extends Json> {
  readonly kind: OperationKind<Input>;
  /**
   * Checks the change against the state in which the hypervisor is known.
   * @throws InfraError HYPERVISOR_RUNNING, HYPERVISOR_OFF
   */
  check(hypervisor: Hypervisor, state: LibvirtState): CheckedHypervisor<Input>;
  /** Returns the message of a completed operation. */
  describeResult(operation: Operation): string;
}
