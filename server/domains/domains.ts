import type { GatewayDomain, Manifest, SystemDomain } from "../domain/define-domain.ts";
import { auditDomain } from "./audit/domain.ts";
import { authDomain } from "./auth/domain.ts";
import { backupsDomain } from "./backups/domain.ts";
import { clustersDomain } from "./clusters/domain.ts";
import { eventsDomain } from "./events/domain.ts";
import { fleetDomain } from "./fleet/domain.ts";
import { historyDomain } from "./history/domain.ts";
import { hypervisorsDomain } from "./hypervisors/domain.ts";
import { inventoryDomain } from "./inventory/domain.ts";
import { operationsDomain } from "./operations/domain.ts";
import { planDomain } from "./plan/domain.ts";
import { podsDomain } from "./pods/domain.ts";
import { storageDomain } from "./storage/domain.ts";
import { streamsDomain } from "./streams/domain.ts";
import { systemDomain } from "./system/domain.ts";
import { volumesDomain } from "./volumes/domain.ts";

/** Domains with systems. A new one is added here. */
export const systemDomains = [
  volumesDomain,
  hypervisorsDomain,
  podsDomain,
  storageDomain,
  clustersDomain,
] as const;

/** Domains of the gateway itself, in the order in which they are created: a later one may use the earlier ones. */
export const gatewayDomains: readonly GatewayDomain[] = [
  backupsDomain,
  authDomain,
  fleetDomain,
  auditDomain,
  operationsDomain,
  eventsDomain,
  inventoryDomain,
  planDomain,
  streamsDomain,
  systemDomain,
  historyDomain,
];

type SystemOf<Domain> = Domain extends SystemDomain<infer _Schema, infer System> ? System : never;

/** The open systems by the names of their domains; absent where a domain is off. */
export type DomainSystems = {
  readonly [Domain in (typeof systemDomains)[number] as Domain["name"]]?: SystemOf<Domain> | undefined;
};

/** Every domain. */
export const domains: readonly Manifest[] = [...systemDomains, ...gatewayDomains];
