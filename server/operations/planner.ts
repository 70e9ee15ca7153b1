import type {
  DescMethod,
  DescMethodServerStreaming,
  DescMethodUnary,
  DescService,
  Message,
  MessageShape,
} from "@bufbuild/protobuf";
import type { PlannedMutation } from "./mutation.ts";
import type { Operation } from "./operation.ts";

/** The caller that requests a plan, and may disconnect before there is one. */
export interface PlanRequester {
  readonly signal: AbortSignal;
  /** The part of the connection that rules of the domains depend on. */
  readonly peer: { readonly lvmd: "backups" | "current" };
  /**
   * The operation whose own plan is checked again: it does not count as in progress, and of several resources only its own is
   * planned. Undefined for any other requester.
   */
  readonly operation?: Pick<Operation, "id" | "resource">;
}

/**
 * Runs every check of a method against the current state and describes the mutation that the method would run, without
 * queueing. Changes nothing.
 * @throws InfraError the errors of the method itself
 */
export type Planner<Request> = (request: Request, requester: PlanRequester) => Promise<PlannedMutation>;

type MethodPlanner<M extends DescMethod> = M extends
  | DescMethodUnary<infer Input>
  | DescMethodServerStreaming<infer Input>
  ? Planner<MessageShape<Input>>
  : never;

/** Planners of a service, by the lowerCamel names of its methods. A method without one cannot be planned. */
export type ServicePlanners<S extends DescService> = {
  [K in keyof S["method"]]?: MethodPlanner<S["method"][K]>;
};

/** A service and the planners of its methods. */
export interface PlannerRegistration {
  readonly service: DescService;
  /** Returns the planner of a method of the service; undefined where it has none. */
  plannerOf(method: DescMethod): Planner<Message> | undefined;
}

/** Registers the planners of one service; the compiler checks them against the contract. */
export function registerPlanners<S extends DescService>(
  service: S,
  planners: ServicePlanners<S>,
): PlannerRegistration {
  const byName = new Map(Object.entries<unknown>(planners));
  return {
    service,
    plannerOf: (method) => byName.get(method.localName) as Planner<Message> | undefined,
  };
}

/** Registers a service whose plans are all refused, as its calls are. `refusal` creates a new error for each. */
export function registerPlanRefusal(service: DescService, refusal: () => Error): PlannerRegistration {
  return {
    service,
    plannerOf: () => async () => {
      throw refusal();
    },
  };
}
