import { InfraError } from "../../../adapters/host/infra-error.ts";
import { EnrollmentService } from "../../../gen/hostplane/v1/fleet_pb.ts";
import { hostOfCertificate } from "../../fleet/hub/accept-link.ts";
import type { Hub, IssuedToHost } from "../../fleet/hub/hub.ts";
import type { Call } from "../../rpc/call/call.ts";
import { methodPathOf } from "../../rpc/call/method-rule.ts";
import { registerService, type ServiceRegistration } from "../../rpc/call/service-handlers.ts";
import { fleetServiceReasons } from "./reasons.ts";

/** Creates hostplane.v1.EnrollmentService: certificates of hosts. */
export function createEnrollmentService(hub: () => Hub): ServiceRegistration {
  return registerService(EnrollmentService, {
    async enroll({ code, name, signingRequest }, call) {
      assertOnAgentsAddress(call);
      const issued = await hub().enroll(code, name, signingRequest);
      call.noteResource(`hosts/${issued.name}`);
      return { issued: issuedMessage(issued) };
    },
    async renewCertificate({ signingRequest }, call) {
      assertOnAgentsAddress(call);
      const host = hostOfCertificate(call.peer.certificate);
      if (host === undefined) {
        const message = "the connection has no certificate of a host";
        throw new InfraError(fleetServiceReasons.HOST_CERTIFICATE_REQUIRED, message);
      }
      const issued = await hub().renew(host, signingRequest);
      call.noteResource(`hosts/${issued.name}`);
      return { issued: issuedMessage(issued) };
    },
  });
}

/** @throws InfraError AGENTS_ADDRESS_ONLY */
function assertOnAgentsAddress({ peer, method }: Call): void {
  if (peer.access !== "agents") {
    const message = `${methodPathOf(method)} is served only on the hub's address for agents (fleet.hub.listen)`;
    throw new InfraError(fleetServiceReasons.AGENTS_ADDRESS_ONLY, message);
  }
}

function issuedMessage({ name, fleetId, certificates, hubAuthority, hubs }: IssuedToHost) {
  return { name, fleetId, certificates: [...certificates], hubAuthority, hubs: [...hubs] };
}
