import type { DescMethod } from "@bufbuild/protobuf";
import type { Backend } from "../domain/backend.ts";
import { createOffServices, type DomainSystem, type SystemDomain } from "../domain/define-domain.ts";
import {
  type Activity,
  allOf,
  backendsOf,
  type DomainContext,
  type DomainServices,
  type GatewayParts,
} from "../domain/domain-services.ts";
import type { MetricSource } from "../domain/metric-source.ts";
import { createVisibilityOf } from "../domain/visibility.ts";
import { domains, gatewayDomains, systemDomains } from "../domains/domains.ts";
import { operationMessage } from "../domains/operations/operation-messages.ts";
import { createStoreBackend, type StoreBackendOptions } from "../domains/system/monitoring/backend.ts";
import { createAccessOf, type MethodAccess } from "../rpc/access/method-access.ts";
import type { InterceptorFor } from "../rpc/call/method-interceptors.ts";
import type { ServiceRegistration } from "../rpc/call/service-handlers.ts";
import { methodRuleOf, ruleOfPath, storeServices } from "./method-rules.ts";
import type { Systems } from "./systems.ts";

/** What the services are created with. */
export interface ServicesOptions extends GatewayParts {
  readonly systems: Systems;
  /** Absent: it is unknown whether the store can be written, and how full its disk is. */
  readonly writes?: StoreBackendOptions["writes"];
  readonly readDisk?: StoreBackendOptions["readDisk"];
}

/** The services of all domains. */
export interface Services {
  readonly registrations: readonly ServiceRegistration[];
  /** Every system that ListBackends returns. */
  readonly backends: readonly Backend[];
  readonly storeBackend: Backend;
  /** Gauges of the domains. */
  readonly metrics: readonly MetricSource[];
  /** Returns what the calls of a method concern. */
  accessOf(method: DescMethod): MethodAccess | undefined;
  /** Reports whether PlanService can describe what a change by the method would do. */
  isPlannable(method: DescMethod): boolean;
  /** Go directly around the handlers of changes. */
  readonly changeInterceptors: readonly InterceptorFor[];
  /** Starts publishing events of the systems. */
  observe(): Activity;
  /** Starts the scheduled work. It must be closed before the operations are. */
  beginSchedules(): Activity;
}

/** Creates every service of the contract. */
export async function createServices({ systems, ...options }: ServicesOptions): Promise<Services> {
  const storeBackend = createStoreBackend({
    ...options,
    kind: options.facts.isSandbox ? "sandbox" : "real",
    services: storeServices,
  });
  const served = new Map<string, DomainServices>();
  const context: DomainContext = {
    ...options,
    operationMessage,
    visibilityOf: createVisibilityOf(options.fleet, ruleOfPath),
    storeBackend,
    services: domains.flatMap(({ services }) => services),
    ruleOf: methodRuleOf,
    resourceTypes: domains.flatMap(({ resourceTypes = [] }) => resourceTypes),
    eventTopics: domains.flatMap(({ name, hasEvents }) => (hasEvents === true ? name : [])),
    served,
  };
  for (const domain of systemDomains as readonly unknown[] as readonly SystemDomain<never, DomainSystem>[]) {
    const system = systems[domain.name as keyof Systems] as DomainSystem | undefined;
    served.set(
      domain.name,
      system === undefined ? createOffServices(domain) : await domain.serve(system, context),
    );
  }
  for (const domain of gatewayDomains) {
    served.set(domain.name, await domain.serve(context));
  }
  const all = [...served.values()];
  const planners = all.flatMap((domain) => domain.planners);
  return {
    registrations: all.flatMap((domain) => domain.registrations),
    backends: backendsOf(served, storeBackend),
    storeBackend,
    accessOf: createAccessOf(all.flatMap(({ access }) => access ?? [])),
    metrics: all.flatMap(({ metrics }) => metrics ?? []),
    isPlannable: (method) =>
      planners.find(({ service }) => service.typeName === method.parent.typeName)?.plannerOf(method) !==
      undefined,
    changeInterceptors: all.flatMap(({ changeInterceptor }) => changeInterceptor ?? []),
    observe: () => allOf(all.flatMap(({ observe }) => observe?.() ?? [])),
    beginSchedules: () => allOf(all.flatMap(({ beginSchedules }) => beginSchedules?.() ?? [])),
  };
}
