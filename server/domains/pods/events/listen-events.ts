import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { Event, ListenEventsRequest } from "../../../../gen/v1alpha/api_pb.ts";
import type { Events } from "../../../events/events.ts";
import type { Call } from "../../../rpc/call.ts";

/** Streams events of the gateway's own log in the words of v1alpha.PublicAPI. */
export type ListenEvents = (
  request: ListenEventsRequest,
  call: Call,
) => AsyncGenerator<{ readonly events: Pick<Event, "type" | "id" | "from" | "time">[] }, void>;

export interface ListenEventsOptions {
  readonly events: Events;
  readonly host: string;
}

export function createListenEvents(_options: ListenEventsOptions): ListenEvents {
  // biome-ignore lint/correctness/useYield: it is not built yet
  return async function* listenEvents() {
    throw new InfraError("DOMAIN_NOT_BUILT", "this version does not serve ListenEvents yet");
  };
}
