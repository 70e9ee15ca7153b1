import type { DescMethod, DescService, Message } from "@bufbuild/protobuf";
import { InfraError, invalidField } from "../../../adapters/host/infra-error.ts";
import type { CreatePlanRequest, PlanRequest } from "../../../gen/hostplane/v1/plan_pb.ts";
import { fleetReasons } from "../../fleet/reasons.ts";
import type { PlannedMutation } from "../../operations/mutation.ts";
import type { Planner, PlannerRegistration } from "../../operations/planner.ts";
import type { MethodAccess } from "../../rpc/access/method-access.ts";
import type { Call } from "../../rpc/call/call.ts";
import { type MethodRule, methodPathOf } from "../../rpc/call/method-rule.ts";
import { assertAllowed } from "../../rpc/interceptors/authorization.ts";
import { assertRequestGranted } from "../../rpc/interceptors/granted-resources.ts";
import { listenerRefusalOf } from "../../rpc/protocols/http/listener-services.ts";
import { parsePlannedRequest } from "./planned-request.ts";
import { planReasons } from "./reasons.ts";

export interface PlanCallOptions {
  /** All methods of the gateway, by their full names. */
  readonly methods: ReadonlyMap<string, DescMethod>;
  readonly plannerOf: PlannerOf;
  readonly ruleOf: (method: DescMethod) => MethodRule;
  readonly accessOf: (method: DescMethod) => MethodAccess | undefined;
}

/** The method of a call to plan, which the caller may call. */
export interface PlannedMethod {
  readonly method: DescMethod;
  readonly rule: MethodRule;
}

/** A call, and what it would do now. */
export interface PlannedCall extends PlannedMethod {
  readonly request: Message;
  readonly mutation: PlannedMutation;
}

/** A call to plan. */
export type CallToPlan = Pick<PlanRequest | CreatePlanRequest, "method" | "request">;

/**
 * Plans the call that a request describes. The checks that could refuse the call also apply to its plan, in the same order: the
 * listener, the caller's role, the request's form, a domain that is not built or off, the domain's rules.
 */
export interface PlanCall {
  /** @throws InfraError INVALID_FIELD, NOT_ON_HOSTS, and those of a caller that may not call the method */
  assertMethod(request: Pick<CallToPlan, "method">, call: Pick<Call, "caller" | "peer">): PlannedMethod;
  /** Reports whether a method has a plan, and the caller may call it. */
  mayCall(method: DescMethod, call: Pick<Call, "caller" | "peer">): boolean;
  /** Refuses a request whose call would be refused for the caller's grants. @throws InfraError NOT_GRANTED */
  assertGranted(planned: PlannedMethod, request: Message, call: Call): Promise<void>;
  /** @throws InfraError NOT_PLANNABLE, and the errors of the call */
  plan(method: PlannedMethod, request: CallToPlan, call: Call): Promise<PlannedCall>;
}

/** Returns the planner of a method; undefined if it cannot be planned. */
export type PlannerOf = (method: DescMethod) => Planner<Message> | undefined;

/** Returns the function that finds the planner of a method. */
export function createPlannerOf(registrations: readonly PlannerRegistration[]): PlannerOf {
  const planners = new Map(registrations.map((one) => [one.service.typeName, one]));
  return (method) => planners.get(method.parent.typeName)?.plannerOf(method);
}

/** Returns all methods by their full names. */
export function methodsByPath(services: readonly DescService[]): ReadonlyMap<string, DescMethod> {
  const methods = services.flatMap((service): readonly DescMethod[] => service.methods);
  return new Map(methods.map((method) => [methodPathOf(method), method]));
}

/** @param options `plannerOf`: returns how a method is planned; undefined for one without a plan */
export function createPlanCall(options: PlanCallOptions): PlanCall {
  const { methods, plannerOf } = options;
  const planCall: PlanCall = {
    assertMethod({ method: path }, call) {
      const method = methods.get(path.replace(/^\//, ""));
      if (method === undefined) {
        const example = "proto.LVService/RemoveLV";
        throw invalidField("method", `must be the full name of a method, such as ${example}`);
      }
      const rule = options.ruleOf(method);
      if (rule.fleetWide && call.peer.access === "hub") {
        const message = `${method.parent.typeName} is the hub's own; plan the call without the name of a host`;
        throw new InfraError(fleetReasons.NOT_ON_HOSTS, message);
      }
      const refusal = listenerRefusalOf(method.parent, call.peer.listener, call.peer.services);
      if (refusal !== undefined) {
        throw refusal;
      }
      assertAllowed(call.caller, method, rule);
      return { method, rule };
    },

    mayCall(method, call) {
      if (!options.ruleOf(method).mutation || plannerOf(method) === undefined) {
        return false;
      }
      try {
        planCall.assertMethod({ method: methodPathOf(method) }, call);
        return true;
      } catch {
        return false;
      }
    },

    assertGranted: ({ method, rule }, request, call) =>
      assertRequestGranted(call, { method, rule, access: options.accessOf(method) }, request),

    async plan({ method, rule }, { request: planned }, call) {
      const request = parsePlannedRequest(method.input, planned);
      const planner = plannerOf(method);
      if (planner === undefined) {
        throw notPlannable(method, rule);
      }
      await planCall.assertGranted({ method, rule }, request, call);
      return { method, rule, request, mutation: await planner(request, call) };
    },
  };
  return planCall;
}

function notPlannable(method: DescMethod, { mutation }: MethodRule): InfraError {
  const why = mutation ? "its changes cannot be predicted" : "it changes nothing";
  return new InfraError(planReasons.NOT_PLANNABLE, `${methodPathOf(method)} has no plan: ${why}`);
}
