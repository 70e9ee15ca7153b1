import type { Reason } from "../../../adapters/host/define-reasons.ts";
import { fleetReasons } from "../../fleet/reasons.ts";
import { fleetServiceReasons } from "./reasons.ts";

type ReasonsByMethod = Readonly<Record<string, readonly Reason[]>>;

/** Reasons for which the methods of FleetService fail, beside NOT_A_HUB. */
export const fleetMethodReasons: ReasonsByMethod = {
  ListHosts: [fleetServiceReasons.NOT_A_HUB],
  WatchHosts: [fleetServiceReasons.NOT_A_HUB],
  CallHosts: [fleetServiceReasons.NOT_A_HUB, fleetReasons.HOST_UNKNOWN],
  CreateHostToken: [fleetServiceReasons.NOT_A_HUB],
  SetHostLabels: [fleetServiceReasons.NOT_A_HUB, fleetReasons.HOST_UNKNOWN],
  RemoveHost: [fleetServiceReasons.NOT_A_HUB, fleetReasons.HOST_UNKNOWN],
};

/** Reasons for which the methods of MembershipService fail. */
export const membershipMethodReasons: ReasonsByMethod = {
  JoinFleet: [
    fleetServiceReasons.LOCAL_SOCKET_ONLY,
    fleetReasons.ALREADY_MEMBER,
    fleetReasons.HUB_NOT_TRUSTED,
    fleetReasons.HUB_UNREACHABLE,
    fleetReasons.JOIN_TOKEN_REFUSED,
    fleetReasons.HOST_EXISTS,
  ],
  LeaveFleet: [fleetServiceReasons.LOCAL_SOCKET_ONLY, fleetReasons.NOT_A_MEMBER],
  GetMembership: [fleetServiceReasons.LOCAL_SOCKET_ONLY],
};

/** Reasons for which the methods of EnrollmentService fail. */
export const enrollmentMethodReasons: ReasonsByMethod = {
  Enroll: [
    fleetServiceReasons.AGENTS_ADDRESS_ONLY,
    fleetServiceReasons.NOT_A_HUB,
    fleetReasons.JOIN_TOKEN_REFUSED,
    fleetReasons.HOST_EXISTS,
  ],
  RenewCertificate: [
    fleetServiceReasons.AGENTS_ADDRESS_ONLY,
    fleetServiceReasons.NOT_A_HUB,
    fleetServiceReasons.HOST_CERTIFICATE_REQUIRED,
    fleetReasons.HOST_UNKNOWN,
  ],
};
