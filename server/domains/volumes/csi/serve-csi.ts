import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { createNameMatch } from "../../../../adapters/host/name-match.ts";
import type { LvmAdapter } from "../../../../adapters/lvm/adapter.ts";
import { Controller, Identity, Node } from "../../../../gen/csi/v1/csi_pb.ts";
import { plannersOf } from "../../../domain/change.ts";
import type { DomainContext, DomainServices } from "../../../domain/domain-services.ts";
import { domainReasons } from "../../../domain/reasons.ts";
import { registerPlanRefusal } from "../../../operations/planner.ts";
import { registerRefusal } from "../../../rpc/call/service-handlers.ts";
import { createChangeVolumes } from "../changes/change-volumes.ts";
import type { ThickClones } from "../long-changes/thick-clones.ts";
import type { VolumeSystem } from "../system/system.ts";
import type { Volumes } from "../volumes.ts";
import { createControllerService } from "./controller/controller-service.ts";
import { createControllerChanges, createNodeChanges } from "./csi-changes.ts";
import { createIdentityService } from "./identity-service.ts";
import { createNodeService } from "./node/node-service.ts";

/** The services of the CSI driver. */
const csiServices = [Identity, Controller, Node] as const;

/** What the driver shares with the other services for volumes. */
export interface CsiFoundation {
  readonly lvm: LvmAdapter;
  readonly volumes: Volumes;
  readonly thickClones: ThickClones;
}

/** Creates the CSI driver, which refuses all calls if it is not configured. */
export function serveCsi(
  system: VolumeSystem,
  { lvm, volumes, thickClones }: CsiFoundation,
  context: DomainContext,
): Pick<DomainServices, "registrations" | "planners"> {
  const { csi, deviceClasses, protect } = system;
  if (csi === undefined) {
    const refusal = () =>
      new InfraError(
        domainReasons.DOMAIN_OFF,
        "the CSI driver is off: set `volumes.csi` in the configuration",
      );
    return {
      registrations: csiServices.map((service) => registerRefusal(service, refusal)),
      planners: csiServices.map((service) => registerPlanRefusal(service, refusal)),
    };
  }
  const { host, operations } = context;
  const parts = { ...csi, lvm, deviceClasses, host, isProtectedName: createNameMatch(protect) };
  const topology = { driverName: csi.settings.driverName, host, deviceClasses };
  const createChange = createChangeVolumes({ ...context, lvm });
  const ofController = createControllerChanges({ ...parts, thickClones, operations }, createChange, topology);
  const ofNode = createNodeChanges(parts, createChange);
  return {
    registrations: [
      createIdentityService(parts, context.facts.version),
      createControllerService(parts, volumes, ofController, topology),
      createNodeService(parts, ofNode, topology),
    ],
    planners: [plannersOf(Controller, ofController), plannersOf(Node, ofNode)],
  };
}
