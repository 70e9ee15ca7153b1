import { answers, type Row, refuses } from "./row.ts";

/** Calls for fleets and carriers of streams, in an order in which each call finds its resources. */
export const fleetRows: readonly Row[] = [
  refuses("hostplane.v1.FleetService/ListHosts", {}, "FAILED_PRECONDITION", "NOT_A_HUB"),
  refuses("hostplane.v1.FleetService/WatchHosts", {}, "FAILED_PRECONDITION", "NOT_A_HUB"),
  refuses("hostplane.v1.FleetService/CallHosts", {}, "FAILED_PRECONDITION", "NOT_A_HUB"),
  refuses("hostplane.v1.FleetService/CreateHostToken", {}, "FAILED_PRECONDITION", "NOT_A_HUB"),
  refuses("hostplane.v1.FleetService/SetHostLabels", { name: "node-1" }, "FAILED_PRECONDITION", "NOT_A_HUB"),
  refuses("hostplane.v1.FleetService/RemoveHost", { name: "node-1" }, "FAILED_PRECONDITION", "NOT_A_HUB"),
  refuses(
    "hostplane.v1.MembershipService/JoinFleet",
    { token: "x" },
    "FAILED_PRECONDITION",
    "LOCAL_SOCKET_ONLY",
  ),
  refuses("hostplane.v1.MembershipService/LeaveFleet", {}, "FAILED_PRECONDITION", "LOCAL_SOCKET_ONLY"),
  refuses("hostplane.v1.MembershipService/GetMembership", {}, "FAILED_PRECONDITION", "LOCAL_SOCKET_ONLY"),
  refuses("hostplane.v1.EnrollmentService/Enroll", {}, "FAILED_PRECONDITION", "AGENTS_ADDRESS_ONLY"),
  refuses(
    "hostplane.v1.EnrollmentService/RenewCertificate",
    {},
    "FAILED_PRECONDITION",
    "AGENTS_ADDRESS_ONLY",
  ),
  answers("hostplane.v1.StreamService/CarryStreams", {}, { opened: { carrierId: /./ } }),
  refuses("hostplane.v1.StreamService/OpenStream", { carrierId: "none" }, "NOT_FOUND", "CARRIER_NOT_FOUND"),
  refuses("hostplane.v1.StreamService/CloseStream", { carrierId: "none" }, "NOT_FOUND", "CARRIER_NOT_FOUND"),
];
