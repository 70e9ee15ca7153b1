import type { DescService } from "@bufbuild/protobuf";
import type { z } from "zod";
import type { Reason } from "../../adapters/host/define-reasons.ts";
import { InfraError } from "../../adapters/host/infra-error.ts";
import { type BackupSourceFacts, createAbsentBackupSource } from "../backups/backup-source.ts";
import type { ConfigOf } from "../config/config-of.ts";
import { registerPlanRefusal } from "../operations/planner.ts";
import type { MethodRule, Role } from "../rpc/call/method-rule.ts";
import { registerRefusal, type ShownServices } from "../rpc/call/service-handlers.ts";
import { createAbsentBackend } from "./backend.ts";
import type { CallReasons } from "./call-reasons.ts";
import type { DemoWorld } from "./demo-world.ts";
import { type DomainContext, type DomainServices, namesOf } from "./domain-services.ts";
import type { Inspection } from "./inspection.ts";
import type { ResourceTypes } from "./inventory-source.ts";
import { domainReasons } from "./reasons.ts";

/** A service of a domain, and how its methods differ from the default rule (server/gateway/method-rules.ts). */
export interface ServiceManifest {
  readonly service: DescService;
  /** Published forms of a service that is served with the messages of all of them. */
  readonly shown?: ShownServices;
  /** Role that all its methods need, unless a rule says otherwise. */
  readonly role?: Role;
  /** Exceptions, by the names of methods in the contract. */
  readonly rules?: Readonly<Record<string, Partial<MethodRule>>>;
  /** Reasons for which single methods fail, beside those of the domain, by the names of methods in the contract. */
  readonly reasons?: Readonly<Record<string, readonly Reason[]>>;
}

/** Systems of a domain, which the gateway closes. */
export interface DomainSystem {
  close(): Promise<void>;
}

/** What the gateway knows of every domain, without loading its code. */
export interface Manifest {
  /** As in `Event.topic`, `Backend.domain` and the keys of the configuration. */
  readonly name: string;
  readonly services: readonly ServiceManifest[];
  readonly reasons?: CallReasons;
  /** Whether its systems belong to the gateway's host, so that with several gateways a call must name the host. */
  readonly isHostBound?: boolean;
  /** Whether it belongs to a whole fleet: a hub serves it itself, and a call to it must not name a host. */
  readonly isFleetWide?: boolean;
  /** Types of the resources that it can have; absent: none. */
  readonly resourceTypes?: readonly ResourceTypes[];
  /** Whether it publishes events. */
  readonly hasEvents?: boolean;
  /** Whether its services answer from the gateway's own store. */
  readonly usesStore?: boolean;
}

/** A domain without systems: it works on the store, or on what the other domains have. */
export interface GatewayDomain extends Manifest {
  /** Creates the services. The domains before it in the list are in `context.served`. */
  serve(context: DomainContext): Promise<DomainServices>;
}

/** The part of a domain with systems that is known while it is not configured. */
interface SystemManifest extends Manifest {
  /** How it is reported while it is not configured. */
  readonly off: {
    /** Name of its first backend, such as `lvm`. */
    readonly backend: string;
    /** As `volumes are off: set ... in the configuration`. */
    readonly message: string;
    /** Further services that depend on the backend. */
    readonly furtherServices?: readonly DescService[];
  };
  /** Set if its volumes can be backed up. */
  readonly backupSource?: BackupSourceFacts;
}

/** A domain with systems. `open` functions and `serve` import the code that they need. */
export interface SystemDomain<Schema extends z.ZodType, System extends DomainSystem> extends SystemManifest {
  /** Its key of the configuration, which has its name. */
  readonly config: { readonly schema: Schema; readonly description: string };
  /** Connects to the configured systems. @throws Error that names the key and what to do */
  openReal(config: ConfigOf<Schema>, environment: Environment): Promise<System>;
  /** Creates systems that exist in memory only. @param world the demo world; absent: a quiet sandbox */
  openSandbox(world?: DemoWorld): Promise<System>;
  /** Creates doctor's checks of the configured systems; they change nothing. */
  inspect(config: ConfigOf<Schema>, environment: Environment): Promise<Inspection>;
  serve(system: System, context: DomainContext): Promise<DomainServices>;
}

/** Settings of the gateway that systems need beside their own. */
export interface Environment {
  /** Directory of the gateway's data. */
  readonly dataDirectory: string;
  /** Configured name of this host; undefined: that of the operating system. */
  readonly host: string | undefined;
  /** Limits of running and queued tools. */
  readonly tools: { readonly maxRunning: number; readonly maxWaiting: number };
  /** Called with the facts of each tool that has ended. */
  readonly onToolEnd: (event: object) => void;
}

/** Declares a domain with systems. */
export function defineDomain<Name extends string, Schema extends z.ZodType, System extends DomainSystem>(
  domain: SystemDomain<Schema, System> & { readonly name: Name },
): SystemDomain<Schema, System> & { readonly name: Name } {
  return domain;
}

/** Declares a domain without systems. */
export function defineGatewayDomain(domain: GatewayDomain): GatewayDomain {
  return domain;
}

/** Creates the services of a domain that is not configured: all calls are refused, and the message says what to configure. */
export function createOffServices(domain: SystemManifest): DomainServices {
  const { name, services, off, backupSource } = domain;
  const refusal = () => new InfraError(domainReasons.DOMAIN_OFF, off.message);
  const names = namesOf([...services.map(({ service }) => service), ...(off.furtherServices ?? [])]);
  return {
    registrations: services.map(({ service, shown }) => registerRefusal(service, refusal, shown)),
    planners: services.map(({ service }) => registerPlanRefusal(service, refusal)),
    backends: [createAbsentBackend(name, off.backend, "off", names, off.message)],
    ...(backupSource === undefined ? {} : { backupSource: createAbsentBackupSource(backupSource) }),
  };
}
