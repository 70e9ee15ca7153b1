import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { EventSchema, EventService } from "../../../gen/hostplane/v1/event_pb.ts";
import { type Noun, stream } from "../../cli/table/command.ts";
import { option, optionList, time, word } from "../../cli/table/parameter.ts";
import { eventLine } from "./event-line.ts";

/** The event stream. */
export const eventsNoun: Noun = {
  commands: [
    stream({
      name: "",
      summary: "follow events until interrupted",
      parameters: {
        fromCursor: option("start after the event with this cursor", word("cursor"), { conflicts: "since" }),
        since: option("start at this time, e.g. 2026-01-31T00:00:00Z", time),
        topic: optionList(
          "only this topic (volumes, hypervisors, storage, pods, clusters, operations, plan, fleet)",
          word("topic"),
        ),
        resource: optionList("only this resource or anything below it", word("resource")),
        fleetHost: optionList("on a hub: only events of this host of the fleet", word("host")),
      },
      method: EventService.method.subscribe,
      request: ({ fromCursor, since, topic, resource, fleetHost }) => ({
        topics: [...topic],
        resources: [...resource],
        fleetHosts: [...fleetHost],
        ...startOf(fromCursor, since),
      }),
      createLines:
        () =>
        ({ message }) =>
          message.case === "event" ? [eventLine(message.value)] : [],
      json: ({ message }) => (message.case === "event" ? [EventSchema, message.value] : undefined),
      cursorOf: ({ message }) => message.value?.cursor,
    }),
  ],
};

function startOf(cursor: string | undefined, since: Date | undefined) {
  if (cursor !== undefined) {
    return { start: { case: "cursor" as const, value: cursor } };
  }
  return since === undefined ? {} : { start: { case: "time" as const, value: timestampFromDate(since) } };
}
