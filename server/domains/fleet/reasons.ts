import { defineReasons } from "../../../adapters/host/define-reasons.ts";

/** Reasons for which the services of the fleet refuse callers. */
export const fleetServiceReasons = defineReasons({
  NOT_A_HUB: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "This gateway has no hosts, because `fleet.hub` is not configured.",
  },
  LOCAL_SOCKET_ONLY: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "Only callers on the gateway's own admin socket may decide to which fleet the host belongs.",
  },
  AGENTS_ADDRESS_ONLY: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "Certificates of hosts are issued only on the hub's address for agents.",
  },
  HOST_CERTIFICATE_REQUIRED: {
    code: "UNAUTHENTICATED",
    retryable: false,
    meaning: "The connection has no certificate that this fleet has issued to a host.",
  },
});
