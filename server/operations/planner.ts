import type {
  DescMethod,
  DescMethodServerStreaming,
  DescMethodUnary,
  DescService,
  Message,
  MessageShape,
} from "@bufbuild/protobuf";
import type { PlannedMutation } from "./mutation.ts";

/** Who asks for a plan, and may leave before there is one. */
export interface PlanAsker {
  readonly signal: AbortSignal;
  /** Of how it reached the gateway, what decides on rules of the domains. */
  readonly peer: { readonly lvmd: "backups" | "current" };
}

/**
 * Runs every check of a method against the state of this moment and describes the mutation that the method would
 * run, without waiting for its turn. Touches nothing.
 * @throws InfraError as the method itself would
 */
export type Planner<Request> = (request: Request, asker: PlanAsker) => Promise<PlannedMutation>;

type MethodPlanner<M extends DescMethod> = M extends
  | DescMethodUnary<infer Input>
  | DescMethodServerStreaming<infer Input>
  ? Planner<MessageShape<Input>>
  : never;

/** The planners of a service by the lowerCamel names of its methods. A method without one cannot be planned. */
export type ServicePlanners<S extends DescService> = {
  [K in keyof S["method"]]?: MethodPlanner<S["method"][K]>;
};

/** A service and who plans its methods. */
export interface PlannerRegistration {
  readonly service: DescService;
  /** The planner of a method of the service; undefined where it has none. */
  plannerOf(method: DescMethod): Planner<Message> | undefined;
}

/** Registers the planners of one service; the compiler holds them against the contract. */
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

/** Registers a service of which every plan is refused as every call is, with an error made anew for each. */
export function registerPlanRefusal(service: DescService, refusal: () => Error): PlannerRegistration {
  return {
    service,
    plannerOf: () => async () => {
      throw refusal();
    },
  };
}
