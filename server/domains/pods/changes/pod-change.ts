import type { PodRuntime, RuntimeStep } from "../../../../adapters/podman/adapter.ts";
import type { Json } from "../../../operations/operation.ts";
import type { OperationKind } from "../../../operations/operation-kind.ts";
import type { OwnChanges } from "../events/own-changes.ts";

/** Dependencies of the kinds of operations on pods and images. */
export interface ChangeTools {
  readonly runtime: PodRuntime;
  readonly own: OwnChanges;
  /** Name of this host. */
  readonly host: string;
}

/** A change that was checked against the current state. */
export interface CheckedChange<Input extends Json> {
  /** E.g. `pods/UUID`. */
  readonly resource: string;
  readonly input: Input;
  /** The call to the runtime. */
  readonly step: RuntimeStep;
  /** Resulting changes and losses, for people. */
  readonly changes: readonly string[];
  readonly losses: readonly string[];
  /** What the change follows from, as in `PlanFact`. */
  readonly facts: Readonly<Record<string, string>>;
}

/** A change of a pod or an image, which one call to the runtime makes. */
export interface PodChange<Request, Input extends Json> {
  readonly kind: OperationKind<Input>;
  /** A request with the same key as a running operation returns that operation. Absent when each request starts its own. */
  attachKeyOf?(input: Input): string;
  /**
   * Validates the request against the current state.
   * @param backend as `backendOf`
   * @throws InfraError when the request is rejected, before anything is started
   */
  check(request: Request, backend: string, signal: AbortSignal): Promise<CheckedChange<Input>>;
  /**
   * Reports whether a running operation may match the request after the resource of both is gone. Absent for changes that
   * remove nothing.
   */
  isFor?(request: Request, input: Input): boolean;
}
