import { EnrollmentService, FleetService, MembershipService } from "../../../gen/hostplane/v1/fleet_pb.ts";
import { defineGatewayDomain } from "../../domain/define-domain.ts";
import { fleetReasons } from "../../fleet/reasons.ts";
import { enrollmentMethodReasons, fleetMethodReasons, membershipMethodReasons } from "./call-reasons.ts";
import { fleetServiceReasons } from "./reasons.ts";

/** Many hosts at one address. */
export const fleetDomain = defineGatewayDomain({
  name: "fleet",
  services: [
    {
      service: FleetService,
      reasons: fleetMethodReasons,
      rules: {
        ListHosts: { get: false, cache: false },
        CreateHostToken: { role: "admin" },
        SetHostLabels: { role: "admin" },
        RemoveHost: { role: "admin" },
      },
    },
    {
      service: MembershipService,
      role: "admin",
      reasons: membershipMethodReasons,
      rules: { GetMembership: { get: false, cache: false } },
    },
    {
      service: EnrollmentService,
      reasons: enrollmentMethodReasons,
      rules: { Enroll: { role: "anyone" }, RenewCertificate: { role: "anyone" } },
    },
  ],
  usesStore: true,
  isFleetWide: true,
  hasEvents: true,
  reasons: { tables: [fleetReasons, fleetServiceReasons] },
  async serve(context) {
    const { serveFleet } = await import("./serve.ts");
    return serveFleet(context);
  },
});
