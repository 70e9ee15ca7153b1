import { SystemService } from "../../../gen/hostplane/v1/system_pb.ts";
import {
  backendsOf,
  type DomainContext,
  type DomainServices,
  namesOf,
} from "../../domain/domain-services.ts";
import { registerAccess } from "../../rpc/access/method-access.ts";
import type { LvmdProtocol } from "../../rpc/call/call.ts";
import { createReflectionServices, reflectionServices } from "../../rpc/reflection/reflection.ts";
import { createHealthService } from "./health.ts";
import { createGatewayFigures } from "./monitoring/figures.ts";
import { createSystemService } from "./service.ts";

/** What a backend lacks may name any resource. */
const systemAccess = registerAccess(SystemService, {
  getInfo: "own",
  listBackends: {
    shows: ({ backends = [] }) => ({ backends: backends.map((backend) => ({ ...backend, missing: [] })) }),
  },
});

/** Creates the services for the gateway itself. */
export function serveSystem({
  facts,
  measures,
  served,
  storeBackend,
  services,
  fleet,
}: DomainContext): DomainServices {
  const backends = backendsOf(served, storeBackend);
  const others = services.filter(({ service }) => !reflectionServices.includes(service));
  const shownBy = (lvmd: LvmdProtocol) => others.map(({ service, shown }) => shown?.[lvmd] ?? service);
  return {
    registrations: [
      createSystemService({ ...facts, isHub: fleet.hub !== undefined }, backends),
      createHealthService(backends, namesOf(services.map(({ service }) => service))),
      ...createReflectionServices({ backups: shownBy("backups"), current: shownBy("current") }),
    ],
    planners: [],
    access: [systemAccess],
    backends: [],
    figures: [createGatewayFigures(measures)],
  };
}
