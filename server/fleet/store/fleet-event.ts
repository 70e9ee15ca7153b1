import { fleetTopic } from "../../events/event-record.ts";
import type { NewEvent } from "../../events/store/events.ts";

/** Creates an event of the hub about a host. */
export function fleetEvent(type: "joined" | "lost" | "back" | "removed", host: string): NewEvent {
  return {
    topic: fleetTopic,
    type: `host.${type}`,
    resource: `hosts/${host}`,
    host: "",
    services: ["hostplane.v1.FleetService"],
    payload: {},
  };
}
