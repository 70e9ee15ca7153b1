import type { PodRuntime, RuntimeStep } from "../../../../adapters/podman/adapter.ts";
import type { Json } from "../../../operations/operation.ts";
import type { OperationKind } from "../../../operations/operation-kind.ts";
import type { OwnChanges } from "../own-changes.ts";

/** What the kinds of operations on pods and images are made of. */
export interface ChangeTools {
  readonly runtime: PodRuntime;
  readonly own: OwnChanges;
  /** Name of this host. */
  readonly host: string;
}

/** What would be begun. */
export interface ForeseenChange<Input extends Json> {
  /** As `pods/UUID`. */
  readonly resource: string;
  readonly input: Input;
  /** What the runtime will be asked for. */
  readonly step: RuntimeStep;
  /** For people: what will be, and what will be lost. */
  readonly changes: readonly string[];
  readonly losses: readonly string[];
}

/** One change that a caller may ask for: how a request becomes an operation. */
export interface ChangeDefinition<Request, Input extends Json> {
  readonly kind: OperationKind<Input>;
  /**
   * A request of the same key as an operation that is under way is answered with that one. Absent where each request is one of
   * its own.
   */
  attachKeyOf?(input: Input): string;
  /**
   * Looks at the request, and at what it is about as that is now.
   * @param backend as `backendOf`
   * @throws InfraError what would be refused, before anything is begun
   */
  foresee(request: Request, backend: string, signal: AbortSignal): Promise<ForeseenChange<Input>>;
  /**
   * Whether an operation of the kind may be what the request asks for, once what both are about is gone. Absent for what
   * removes nothing.
   */
  isFor?(request: Request, input: Input): boolean;
}
