import { EventService } from "../../../gen/hostplane/v1/event_pb.ts";
import { defineGatewayDomain } from "../../domain/define-domain.ts";
import { eventReasons } from "../../events/reasons.ts";

/** The event stream of all domains. */
export const eventsDomain = defineGatewayDomain({
  name: "events",
  services: [
    {
      service: EventService,
      rules: { Subscribe: { ofEveryService: true }, FollowEvents: { ofEveryService: true } },
    },
  ],
  usesStore: true,
  reasons: { tables: [eventReasons], every: Object.values(eventReasons) },
  async serve(context) {
    const { serveEvents } = await import("./serve.ts");
    return serveEvents(context);
  },
});
