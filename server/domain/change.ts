import type {
  DescMethod,
  DescMethodServerStreaming,
  DescMethodUnary,
  DescService,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import type { PlannedMutation } from "../operations/mutation.ts";
import {
  type PlannerRegistration,
  type PlanRequester,
  registerPlanners,
  type ServicePlanners,
} from "../operations/planner.ts";
import type { Call } from "../rpc/call/call.ts";

/** The part of a call that plans and changes depend on. */
export type ChangeRequester = Pick<Call, "signal" | "noteResource" | "appliedPlan"> & {
  readonly peer: Pick<Call["peer"], "lvmd">;
};

/**
 * A change that a method of the contract makes. Its plan and its execution come from the same description, so that a plan
 * cannot promise what the call would not do.
 */
export interface Change<Request, Response, By = Call> {
  /**
   * Runs every check against the current state, and describes what `run` would do now. Changes nothing.
   * @throws InfraError as `run`, as far as the state shows it
   */
  plan(request: Request, requester: PlanRequester): Promise<PlannedMutation>;
  /** Makes the change. A promise of the response, or the stream of them. */
  run(request: Request, call: By): Response;
}

type MethodChange<M extends DescMethod> =
  M extends DescMethodUnary<infer I, infer O>
    ? Change<MessageShape<I>, Promise<MessageInitShape<O>>>
    : M extends DescMethodServerStreaming<infer I, infer O>
      ? Change<MessageShape<I>, AsyncIterable<MessageInitShape<O>>>
      : never;

/** The changes of a service, by the lowerCamel names of its methods. */
export type ServiceChanges<S extends DescService> = {
  readonly [K in keyof S["method"]]?: MethodChange<S["method"][K]>;
};

/** Some of the changes of a service: those that one part of a domain makes. */
export type ChangesOf<S extends DescService, Name extends keyof S["method"]> = Required<
  Pick<ServiceChanges<S>, Name>
>;

type Runs<Changes> = {
  [K in keyof Changes]: Changes[K] extends { run: infer Run } ? Run : never;
};

/** Returns the handlers of the methods that make changes. */
export function handlersOf<
  Changes extends { readonly [K in keyof Changes]: Pick<Change<never, unknown>, "run"> },
>(changes: Changes): Runs<Changes> {
  const handlers = Object.entries<Pick<Change<never, unknown>, "run">>(changes).map(([name, change]) => [
    name,
    change.run.bind(change),
  ]);
  return Object.fromEntries(handlers) as Runs<Changes>;
}

/** Registers the planners of the methods that make changes. */
export function plannersOf<S extends DescService>(
  service: S,
  changes: ServiceChanges<S>,
): PlannerRegistration {
  const planners = Object.entries<Pick<Change<never, unknown>, "plan">>(changes as never).map(
    ([name, change]) => [name, change.plan.bind(change)],
  );
  return registerPlanners(service, Object.fromEntries(planners) as ServicePlanners<S>);
}
