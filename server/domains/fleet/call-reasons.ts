import type { Reason } from "../../../adapters/host/define-reasons.ts";
import { fleetReasons } from "../../fleet/reasons.ts";

type ReasonsByMethod = Readonly<Record<string, readonly Reason[]>>;

/** Reasons for which the methods of FleetService fail, beside NOT_A_HUB. */
export const fleetMethodReasons: ReasonsByMethod = {
  ListHosts: [fleetReasons.NOT_A_HUB],
  WatchHosts: [fleetReasons.NOT_A_HUB],
  CallHosts: [fleetReasons.NOT_A_HUB, fleetReasons.HOST_UNKNOWN],
  CreateHostToken: [fleetReasons.NOT_A_HUB],
  SetHostLabels: [fleetReasons.NOT_A_HUB, fleetReasons.HOST_UNKNOWN],
  RemoveHost: [fleetReasons.NOT_A_HUB, fleetReasons.HOST_UNKNOWN],
};

/** Reasons for which the methods of MembershipService fail. */
export const membershipMethodReasons: ReasonsByMethod = {
  JoinFleet: [
    fleetReasons.LOCAL_SOCKET_ONLY,
    fleetReasons.ALREADY_MEMBER,
    fleetReasons.HUB_NOT_TRUSTED,
    fleetReasons.HUB_UNREACHABLE,
    fleetReasons.JOIN_TOKEN_REFUSED,
    fleetReasons.HOST_EXISTS,
  ],
  LeaveFleet: [fleetReasons.LOCAL_SOCKET_ONLY, fleetReasons.NOT_A_MEMBER],
  GetMembership: [fleetReasons.LOCAL_SOCKET_ONLY],
};

/** Reasons for which the methods of EnrollmentService fail. */
export const enrollmentMethodReasons: ReasonsByMethod = {
  Enroll: [
    fleetReasons.AGENTS_ADDRESS_ONLY,
    fleetReasons.NOT_A_HUB,
    fleetReasons.JOIN_TOKEN_REFUSED,
    fleetReasons.HOST_EXISTS,
  ],
  RenewCertificate: [
    fleetReasons.AGENTS_ADDRESS_ONLY,
    fleetReasons.NOT_A_HUB,
    fleetReasons.HOST_CERTIFICATE_REQUIRED,
    fleetReasons.HOST_UNKNOWN,
  ],
};
