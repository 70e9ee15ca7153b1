import type { DescService } from "@bufbuild/protobuf";
import { InfraError } from "../adapters/host/infra-error.ts";
import { Cluster } from "../gen/cnct/kaas/api/api_pb.ts";
import { Health } from "../gen/grpc/health/v1/health_pb.ts";
import { BackupService } from "../gen/hostplane/v1/backup_pb.ts";
import { EventService } from "../gen/hostplane/v1/event_pb.ts";
import { OperationService } from "../gen/hostplane/v1/operation_pb.ts";
import { PlanService } from "../gen/hostplane/v1/plan_pb.ts";
import { SystemService } from "../gen/hostplane/v1/system_pb.ts";
import { OperationsService } from "../gen/operations/v1/operations_pb.ts";
import { LVService, VGService } from "../gen/proto/lvmd_pb.ts";
import { StatsService } from "../gen/stats/stats_pb.ts";
import { PublicAPI } from "../gen/v1alpha/api_pb.ts";
import { type Backend, createAbsentBackend } from "./backend.ts";
import { createAuditService } from "./domains/audit/service.ts";
import { createPlanService } from "./domains/plan/service.ts";
import { createHealthService } from "./domains/system/health.ts";
import { createReflectionServices, reflectionServices } from "./domains/system/reflection.ts";
import { createSystemService, type GatewayFacts } from "./domains/system/service.ts";
import { createStoreBackend } from "./domains/system/store-backend.ts";
import { createLvmBackend } from "./domains/volumes/backend.ts";
import { createLvPlanners } from "./domains/volumes/planners.ts";
import { createLvService, createVgService } from "./domains/volumes/service.ts";
import { createVolumes } from "./domains/volumes/volumes.ts";
import { methodRuleOf, storeServices } from "./method-table.ts";
import { type PlannerRegistration, registerPlanRefusal } from "./operations/planner.ts";
import type { InlineRunner } from "./operations/run-inline.ts";
import { registerRefusal, type ServiceRegistration } from "./rpc/service-handlers.ts";
import type { Store } from "./store/store.ts";
import type { Systems } from "./systems.ts";

/** A domain with who answers its calls and who plans them, and the systems behind it. */
interface DomainServices {
  readonly registrations: readonly ServiceRegistration[];
  readonly planners: readonly PlannerRegistration[];
  readonly backends: readonly Backend[];
}

interface UnbuiltDomain {
  readonly domain: string;
  /** The system that will stand behind it. */
  readonly system: string;
  readonly service: DescService;
}

/** Services of the gateway itself that are not built yet. */
const unbuiltServices: readonly DescService[] = [OperationService, EventService, BackupService];

/** Services of the contract whose domain is not built yet. */
const unbuilt: readonly UnbuiltDomain[] = [
  { domain: "storage", system: "ceph", service: StatsService },
  { domain: "clusters", system: "maas", service: Cluster },
  { domain: "hypervisors", system: "libvirt", service: OperationsService },
  { domain: "pods", system: "podman", service: PublicAPI },
];

/**
 * Every service of the contract with who answers it, and every system as ListBackends tells it. Precedence of
 * answers: not built, off, sandbox or real.
 */
export function createServices(options: {
  readonly systems: Systems;
  readonly runner: InlineRunner;
  readonly auth: Pick<DomainServices, "registrations" | "planners">;
  readonly store: Pick<Store, "run" | "isShared">;
  readonly facts: GatewayFacts;
}): Pick<DomainServices, "registrations" | "backends"> & { readonly storeBackend: Backend } {
  const storeBackend = createStoreBackend(
    options.store,
    options.facts.isSandbox ? "sandbox" : "real",
    storeServices,
  );
  const domains = [
    createVolumesDomain(options.systems, options.runner),
    { ...options.auth, backends: [] },
    { registrations: [createAuditService(options.store)], planners: [], backends: [] },
    ...unbuiltServices.map((service) => ({
      registrations: [registerRefusal(service, refusalOf(service))],
      planners: [registerPlanRefusal(service, refusalOf(service))],
      backends: [],
    })),
    ...unbuilt.map(createUnbuiltDomain),
  ];
  const backends = domains
    .flatMap((domain) => domain.backends)
    .concat(storeBackend)
    .toSorted((a, b) => `${a.domain}/${a.name}`.localeCompare(`${b.domain}/${b.name}`));
  const registrations = domains.flatMap((domain) => domain.registrations);
  const services = [...registrations.map(({ service }) => service), PlanService, SystemService, Health];
  const allServices = [...services, ...reflectionServices];
  const planners = domains.flatMap((domain) => domain.planners);
  const names = namesOf(allServices);
  return {
    registrations: [
      ...registrations,
      createPlanService({ services: allServices, planners, ruleOf: methodRuleOf }),
      createSystemService(options.facts, backends),
      createHealthService(backends, names, namesOf(unbuilt.map(({ service }) => service))),
      ...createReflectionServices(services),
    ],
    backends,
    storeBackend,
  };
}

function createVolumesDomain({ volumes: system }: Systems, runner: InlineRunner): DomainServices {
  const services = [LVService, VGService];
  if (system === undefined) {
    const missing = "volumes are off: set `volumes.deviceClasses` in the configuration";
    const refusal = () => new InfraError("DOMAIN_OFF", missing);
    return {
      registrations: services.map((service) => registerRefusal(service, refusal)),
      planners: services.map((service) => registerPlanRefusal(service, refusal)),
      backends: [createAbsentBackend("volumes", "lvm", "off", namesOf(services), missing)],
    };
  }
  const volumes = createVolumes({ ...system, runner });
  return {
    registrations: [createLvService(volumes), createVgService(volumes)],
    planners: [createLvPlanners(volumes)],
    backends: [createLvmBackend(system.lvm, volumes)],
  };
}

function createUnbuiltDomain({ domain, system, service }: UnbuiltDomain): DomainServices {
  const refusal = refusalOf(service);
  return {
    registrations: [registerRefusal(service, refusal)],
    planners: [registerPlanRefusal(service, refusal)],
    backends: [createAbsentBackend(domain, system, "notBuilt", namesOf([service]), refusal().message)],
  };
}

function refusalOf(service: DescService): () => InfraError {
  return () => new InfraError("DOMAIN_NOT_BUILT", `this version does not serve ${service.typeName} yet`);
}

function namesOf(services: readonly DescService[]): string[] {
  return services.map(({ typeName }) => typeName);
}
