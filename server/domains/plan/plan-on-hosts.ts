import { InfraError } from "../../../adapters/host/infra-error.ts";
import { type PlanRequest, type PlanResponse, PlanService } from "../../../gen/hostplane/v1/plan_pb.ts";
import { grantedFleetHosts } from "../../fleet/caller/granted-hosts.ts";
import { onlyHostWith } from "../../fleet/forward/find-host.ts";
import { type CallingHub, callOnHost } from "../../fleet/hub/call-on-host.ts";
import { fleetReasons } from "../../fleet/reasons.ts";
import type { Call } from "../../rpc/call/call.ts";
import { methodPathOf } from "../../rpc/call/method-rule.ts";
import type { PlannedMethod } from "./plan-call.ts";

/** Plans of the calls that a hub forwards to its hosts. */
export interface PlansOnHosts {
  /** Reports whether a host makes the calls of the method. */
  has({ rule }: PlannedMethod): boolean;
  /**
   * Has a call planned by the host that would get it.
   * @throws InfraError HOST_REQUIRED, HOST_UNREACHABLE, and the error of the host
   */
  plan(planned: PlannedMethod, request: PlanRequest, call: Call): Promise<PlanResponse>;
  /** Refuses to save a plan on the hub, since the host keeps and applies it. @throws InfraError HOST_REQUIRED */
  assertHere(planned: PlannedMethod): void;
}

/** @param hub undefined: the gateway is not a hub, and makes all calls itself */
export function createPlansOnHosts(hub: CallingHub | undefined): PlansOnHosts {
  const has = ({ rule }: PlannedMethod) => hub !== undefined && rule.hostBound;
  return {
    has,
    async plan({ method, rule }, request, call) {
      if (hub === undefined) {
        throw new TypeError("the gateway is not a hub");
      }
      const host = onlyHostWith(grantedFleetHosts(hub.hosts, call), rule.domain, method.parent.typeName);
      const plan = await callOnHost(hub, host, PlanService, call, (client) =>
        client.plan(request, { signal: call.signal }),
      );
      call.noteResource(plan.resource);
      return plan;
    },
    assertHere(planned) {
      if (has(planned)) {
        const message = `name the host: it keeps the plan of ${methodPathOf(planned.method)} and applies it`;
        throw new InfraError(fleetReasons.HOST_REQUIRED, message);
      }
    },
  };
}
