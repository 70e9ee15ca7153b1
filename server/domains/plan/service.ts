import type { DescMethod, DescService, MessageInitShape } from "@bufbuild/protobuf";
import { InfraError, invalidField } from "../../../adapters/host/infra-error.ts";
import { type PlanResponseSchema, PlanService } from "../../../gen/hostplane/v1/plan_pb.ts";
import type { PlannedMutation } from "../../operations/mutation.ts";
import type { PlannerRegistration } from "../../operations/planner.ts";
import { type MethodRule, methodPathOf } from "../../rpc/call/method-rule.ts";
import { registerService, type ServiceRegistration } from "../../rpc/call/service-handlers.ts";
import { assertAllowed } from "../../rpc/interceptors/authorization.ts";
import { listenerRefusalOf } from "../../rpc/protocols/http/listener-services.ts";
import { parsePlannedRequest } from "./planned-request.ts";
import { planReasons } from "./reasons.ts";

export interface PlanServiceOptions {
  /** All services of the gateway. */
  readonly services: readonly DescService[];
  readonly planners: readonly PlannerRegistration[];
  readonly ruleOf: (method: DescMethod) => MethodRule;
}

/**
 * Creates hostplane.v1.PlanService, which describes what a call would do. The checks that could refuse the call also apply to
 * its plan, in the same order: the listener, the caller's role, the request's form, a domain that is not built or off, the
 * domain's rules.
 */
export function createPlanService(options: PlanServiceOptions): ServiceRegistration {
  const methods = new Map(
    options.services
      .flatMap((service): readonly DescMethod[] => service.methods)
      .map((method) => [methodPathOf(method), method]),
  );
  const planners = new Map(options.planners.map((one) => [one.service.typeName, one]));

  return registerService(PlanService, {
    async plan({ method: path, request }, call) {
      const method = methods.get(path.replace(/^\//, ""));
      if (method === undefined) {
        const example = "proto.LVService/RemoveLV";
        throw invalidField("method", `must be the full name of a method, such as ${example}`);
      }
      const refusal = listenerRefusalOf(method.parent, call.peer.listener, call.peer.services);
      if (refusal !== undefined) {
        throw refusal;
      }
      assertAllowed(call.caller, method, options.ruleOf(method));
      const planned = parsePlannedRequest(method.input, request);
      const planner = planners.get(method.parent.typeName)?.plannerOf(method);
      if (planner === undefined) {
        throw notPlannable(method, options.ruleOf(method));
      }
      const mutation = await planner(planned, call);
      call.noteResource(mutation.resource);
      return planMessage(mutation);
    },
  });
}

function notPlannable(method: DescMethod, { mutation }: MethodRule): InfraError {
  const why = mutation ? "its changes cannot be predicted" : "it changes nothing";
  return new InfraError(planReasons.NOT_PLANNABLE, `${methodPathOf(method)} has no plan: ${why}`);
}

function planMessage(mutation: PlannedMutation): MessageInitShape<typeof PlanResponseSchema> {
  const { kind, resource, plan, steps, pointOfNoReturn } = mutation;
  return {
    kind,
    resource,
    changes: [...plan.changes],
    losses: [...plan.losses],
    steps: steps.map(({ name, command }) => ({ name, command: [...command] })),
    pointOfNoReturn,
  };
}
