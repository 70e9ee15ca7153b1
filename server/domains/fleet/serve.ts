import { FleetService } from "../../../gen/hostplane/v1/fleet_pb.ts";
import { plannersOf } from "../../domain/change.ts";
import { allOf, type DomainContext, type DomainServices } from "../../domain/domain-services.ts";
import { mergeHostEvents } from "../../fleet/events/merge-host-events.ts";
import { startHostReports } from "../../fleet/hub/host-reports.ts";
import { registerAccess } from "../../rpc/access/method-access.ts";
import { createFleetChanges } from "./changes/fleet-changes.ts";
import { createEnrollmentService } from "./enrollment-service.ts";
import { createFleetService, requireHub } from "./fleet-service.ts";
import { createMembershipService } from "./membership-service.ts";

/** Creates the services of the fleet. */
export function serveFleet(context: DomainContext): DomainServices {
  const { fleet, host, store, log, routeOf, maxMessageBytes, visibilityOf, instanceId } = context;
  const hub = requireHub(fleet.hub);
  const changes = createFleetChanges(hub);
  return {
    registrations: [
      createFleetService(hub, changes, { routeOf, maxMessageBytes }, visibilityOf),
      createMembershipService(fleet.membership, host),
      createEnrollmentService(hub),
    ],
    planners: [plannersOf(FleetService, changes)],
    access: [registerAccess(FleetService, { listHosts: "own", watchHosts: "own", callHosts: "own" })],
    backends: [],
    ...(fleet.hub === undefined
      ? {}
      : {
          beginSchedules: () =>
            allOf([
              startHostReports(hub(), store, (error) =>
                log.warn("the state of a host of the fleet could not be read", error),
              ),
              mergeHostEvents({ hub: hub(), store, instanceId, log }),
            ]),
        }),
  };
}
