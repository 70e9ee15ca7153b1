import { EventService } from "../../../gen/hostplane/v1/event_pb.ts";
import { defineGatewayDomain } from "../../domain/define-domain.ts";

/** The event stream of all domains. */
export const eventsDomain = defineGatewayDomain({
  name: "events",
  services: [{ service: EventService, rules: { Subscribe: { ofEveryService: true } } }],
  usesStore: true,
  async serve(context) {
    const { serveEvents } = await import("./serve.ts");
    return serveEvents(context);
  },
});
