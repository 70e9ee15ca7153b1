import type { DescMethod, DescService, MessageInitShape } from "@bufbuild/protobuf";
import { InfraError, invalidField } from "../../../adapters/host/infra-error.ts";
import {
  type PlanRequest,
  type PlanResponse,
  type PlanResponseSchema,
  PlanService,
} from "../../../gen/hostplane/v1/plan_pb.ts";
import { onlyHostWith } from "../../fleet/forward/find-host.ts";
import { type CallingHub, callOnHost } from "../../fleet/hub/call-on-host.ts";
import { fleetReasons } from "../../fleet/reasons.ts";
import type { PlannedMutation } from "../../operations/mutation.ts";
import type { PlannerRegistration } from "../../operations/planner.ts";
import type { Call } from "../../rpc/call/call.ts";
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
  /** Set on a hub: calls of some methods go to its hosts, and so do their plans. */
  readonly hub?: CallingHub | undefined;
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
    async plan(planned, call) {
      const { method: path, request } = planned;
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
      if (rule.hostBound && options.hub !== undefined) {
        return planOnOnlyHost(options.hub, method, rule, planned, call);
      }
      const parsed = parsePlannedRequest(method.input, request);
      const planner = planners.get(method.parent.typeName)?.plannerOf(method);
      if (planner === undefined) {
        throw notPlannable(method, rule);
      }
      const mutation = await planner(parsed, call);
      call.noteResource(mutation.resource);
      return planMessage(mutation);
    },
  });
}

/**
 * Has a call planned by the host that would get it.
 * @throws InfraError HOST_REQUIRED, HOST_UNREACHABLE, and the error of the host
 */
async function planOnOnlyHost(
  hub: CallingHub,
  { parent }: DescMethod,
  { domain }: MethodRule,
  request: PlanRequest,
  call: Call,
): Promise<PlanResponse> {
  const host = onlyHostWith(hub.hosts, domain, parent.typeName);
  const plan = await callOnHost(hub, host, PlanService, call, (client) =>
    client.plan(request, { signal: call.signal }),
  );
  call.noteResource(plan.resource);
  return plan;
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
