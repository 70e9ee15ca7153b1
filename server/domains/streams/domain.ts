import { StreamService } from "../../../gen/hostplane/v1/stream_pb.ts";
import { defineGatewayDomain } from "../../domain/define-domain.ts";
import { fleetReasons } from "../../fleet/reasons.ts";
import { registerAccess } from "../../rpc/access/method-access.ts";
import { streamReasons } from "./reasons.ts";

/** The call itself is checked as well, so each caller may use these methods. They concern its own connection. */
const own = { ofEveryService: true, get: false, cache: false } as const;

/** Streams of many calls over one connection. */
export const streamsDomain = defineGatewayDomain({
  name: "streams",
  services: [
    {
      service: StreamService,
      rules: { CarryStreams: { ofEveryService: true }, OpenStream: own, CloseStream: own },
      reasons: {
        OpenStream: [streamReasons.CARRIER_NOT_FOUND, fleetReasons.HOST_REQUIRED],
        CloseStream: [streamReasons.CARRIER_NOT_FOUND],
      },
    },
  ],
  reasons: { tables: [streamReasons] },
  async serve({ routeOf, fleet, log }) {
    const { createStreamService } = await import("./service.ts");
    const access = registerAccess(StreamService, {
      carryStreams: "own",
      openStream: "own",
      closeStream: "own",
    });
    return {
      registrations: [createStreamService({ routeOf, isHub: fleet.hosts !== undefined, log })],
      planners: [],
      access: [access],
      backends: [],
    };
  },
});
