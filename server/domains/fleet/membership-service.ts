import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { InfraError, invalidField } from "../../../adapters/host/infra-error.ts";
import { type MembershipSchema, MembershipService } from "../../../gen/hostplane/v1/fleet_pb.ts";
import { fleetHostName } from "../../config/fleet-schema.ts";
import type { Membership, MembershipState } from "../../fleet/agent/membership.ts";
import type { Call } from "../../rpc/call/call.ts";
import { methodPathOf } from "../../rpc/call/method-rule.ts";
import { registerService, type ServiceRegistration } from "../../rpc/call/service-handlers.ts";
import { fleetServiceReasons } from "./reasons.ts";

/**
 * Creates hostplane.v1.MembershipService: this gateway as a host of a fleet.
 * @param hostName name of this host, from which the default name in the fleet follows
 */
export function createMembershipService(membership: Membership, hostName: string): ServiceRegistration {
  return registerService(MembershipService, {
    async joinFleet({ token, name }, call) {
      assertLocal(call);
      call.noteResource("fleet");
      const asked = name === "" ? defaultName(hostName) : name;
      if (!fleetHostName.safeParse(asked).success) {
        throw invalidField(
          "name",
          `"${asked}": expected 1 to 63 lower-case letters, digits and '-', with a letter or digit at both ends`,
        );
      }
      return { membership: membershipMessage(await membership.join(token, asked)) };
    },
    async leaveFleet(_request, call) {
      assertLocal(call);
      call.noteResource("fleet");
      await membership.leave();
      return {};
    },
    async getMembership(_request, call) {
      assertLocal(call);
      const state = membership.state();
      return state === undefined ? {} : { membership: membershipMessage(state) };
    },
  });
}

/** Checks that the call comes from the host itself, which decides which fleet it belongs to. @throws InfraError LOCAL_SOCKET_ONLY */
function assertLocal({ peer, method }: Call): void {
  if (peer.access !== "adminSocket") {
    const message = `${methodPathOf(method)} can only be called on the gateway's own admin socket (hostplane host ... on the host itself)`;
    throw new InfraError(fleetServiceReasons.LOCAL_SOCKET_ONLY, message);
  }
}

/** Returns the first label of the host's name. */
function defaultName(hostName: string): string {
  return hostName.toLowerCase().split(".", 1)[0] ?? "";
}

function membershipMessage(state: MembershipState): MessageInitShape<typeof MembershipSchema> {
  const { name, fleetId, certificateExpiresAtMs, hubs } = state;
  return {
    name,
    fleetId,
    certificateExpiresAt: timestampFromMs(certificateExpiresAtMs),
    hubs: hubs.map(({ address, isConnected, problem }) => ({
      address,
      connected: isConnected,
      problem: isConnected ? "" : (problem ?? ""),
    })),
  };
}
